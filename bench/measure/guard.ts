/**
 * Guards against kernels that do not compute while they are timed: changes inputs between samples,
 * poisons the outputs before each, and copies the outputs right after randomly chosen samples.
 *
 * @module
 */

import type { Device } from "../device/device.ts";
import type { Memory } from "../device/queue.ts";
import { anyPoison, POISON } from "./assert_close.ts";
import { type Below, type Change, changeOnDevice } from "./changes.ts";
import type { Prepared } from "./context.ts";
import { type Changes, planSeries, type SeriesPlan } from "./guard_plan.ts";
import type { Kept, Log, Poisoned } from "./guard_check.ts";
import type { OperandSet, Placed } from "./operands.ts";
import type { Numbers } from "./precision.ts";
import type { Around, Turns } from "./time.ts";
import { BYTES } from "../model/dtype.ts";
import { CaseError } from "../model/errors.ts";
import type { Tolerance } from "../model/problem.ts";
import type { Problem } from "../model/suite.ts";

/** Options of a {@linkcode Guard}. */
export interface GuardOptions {
  readonly device: Device;
  readonly sets: readonly OperandSet[];
  /** A plan for each set. */
  readonly plans: readonly Prepared[];
  /** Magnitude of changed elements, in root mean squares of their input: see {@linkcode gainOf}. */
  readonly gain: number;
  /** The most samples whose outputs are kept. */
  readonly most: number;
  /**
   * Whether the kernel runs on the harness's own cores, as on a CPU: threads that it started may compute
   * ahead while a flush runs, and what the harness writes displaces its data from their caches.
   */
  readonly shared: boolean;
  /** Queues an empty launch. */
  nudge(): void;
  /** Returns random numbers that a kernel must not foresee. */
  readonly below: Below;
}

/** Numbers of samples whose times tell whether a kernel computes new inputs or remembers results. */
export interface FreshSamples {
  /** Samples after a change to inputs that no call had before. */
  readonly after: ReadonlySet<number>;
  /** Samples that may have new inputs too, and are no basis of comparison. */
  readonly apart?: ReadonlySet<number>;
  /** Samples after the same copies, but of values that were there already. */
  readonly again?: ReadonlySet<number>;
  /** Nanoseconds by which samples after a change are slower at least. @default {0} */
  readonly leastNs?: number;
}

/**
 * The least difference after a patch on a CPU with a warm cache. The code that makes the patch displaces
 * data of the kernel from the core's caches, and no other samples have the same patch for comparison.
 * Beside three busy programs on two cores, honest kernels at 8 x 8 x 8 took 0.6 to 2.9 µs longer in 11
 * of 96 rows (`bench --suite matmul-fp32 --m 8 --n 8 --k 8 --backend cpu --cache warm`).
 */
const PATCH_NS = 5000;

const isPatch = ({ kind }: Change) => kind === "patch";

/** The most bytes of kept outputs. */
const MOST_BYTES = 1 << 28;
/**
 * Launches in one round of the driver's ring. The cost of a launch depends on its position, so the work
 * around a sample is padded to whole rounds, and later samples keep their positions. See
 * `docs/notes/2026-11-23-process-state.md`.
 */
const RING = 32;
/** Nanoseconds of a sample above which its position in the ring does not matter. */
const LONG = 50_000;

/** Guards one series of samples. */
export class Guard implements Around, Disposable {
  /** Notes on what could not be done, for the row. */
  readonly notes: string[] = [];
  /** The changes and copies, in their order. */
  readonly log: Log[] = [];
  readonly #scope = new DisposableStack();
  readonly #below: Below;
  readonly #inputs: readonly OperandSet["ins"][];
  readonly #outputs: readonly (readonly Placed[])[];
  /** Copies of the inputs of the first set, if there is room. Other sets are rotations of these. */
  readonly #originals: readonly Memory[] | undefined;
  readonly #spare: readonly Memory[];
  readonly #poisoned: Poisoned[][];
  #turns: Turns | undefined;
  /** Returns the sets that a sample of the series uses. */
  #uses: ReturnType<Turns["fromNow"]>;
  #count = 0;
  #padded = false;
  #settles = 0;
  #changes: SeriesPlan["changes"] = new Map();
  #stale: SeriesPlan["stale"] = new Set();
  #again: SeriesPlan["again"] = new Set();
  #patches: ReadonlyMap<Change, Memory> | undefined;
  #kept: ReadonlyMap<number, Memory> = new Map();
  #used: readonly number[] = [];

  constructor(readonly options: GuardOptions) {
    const { sets, device, below } = options;
    this.#below = below;
    this.#uses = () => sets.map((_, i) => i);
    this.#inputs = sets.map(({ ins }) => ins);
    this.#outputs = sets.map(({ outs }) => outs);
    this.#poisoned = this.#outputs.map((outputs) =>
      outputs.map(() => ({ whole: POISON, parts: [] }))
    );
    this.#spare = this.#allocate(
      "changes of inputs: they stayed the same",
      (own) => [own.use(device.alloc(64)), own.use(device.alloc(64))],
    ) ?? [];
    this.#originals = this.#allocate(
      "a second copy of the inputs: only a few elements changed",
      (own) =>
        sets[0]!.ins.map(({ part }) => {
          const memory = own.use(device.alloc(part.bytes));
          memory.copyFrom(part);
          return memory;
        }),
    );
  }

  /** Returns what `make` allocates; undefined, and notes that, if there is no room. */
  #allocate<T>(
    what: string,
    make: (scope: DisposableStack) => T,
  ): T | undefined {
    using own = new DisposableStack();
    try {
      const made = make(own);
      this.#scope.use(own.move());
      return made;
    } catch (error) {
      if (!(error instanceof CaseError) || error.failure !== "oom") throw error;
      this.notes.push(`no room for ${what} while timed`);
      return undefined;
    }
  }

  watch(turns: Turns): void {
    this.#turns = turns;
  }

  /** The samples after changes, for the comparison of their times. */
  get fresh(): readonly FreshSamples[] {
    const end = this.#end;
    const changes = [...this.#changes].filter(([at]) =>
      at !== end && !this.#again.has(at)
    );
    const [patched, whole] = [true, false].map((is) =>
      changes.filter(([, sets]) =>
        [...sets.values()].flat().every(isPatch) === is
      ).map(([at]) => at)
    ) as [number[], number[]];
    const back = end === undefined ? [] : [end];
    const isWarm = this.#turns?.settle !== undefined;
    return [
      {
        after: new Set(whole),
        apart: new Set(back),
        ...(isWarm ? { again: this.#again } : {}),
      },
      {
        after: new Set(isWarm ? patched : [...patched, ...whole]),
        apart: new Set([...whole, ...back]),
        ...(isWarm && this.options.shared ? { leastNs: PATCH_NS } : {}),
      },
    ];
  }

  /** The sample before which the inputs are restored. */
  get #end(): number | undefined {
    return [...this.#changes.keys()].at(-1);
  }

  /** Returns whether the calls that warm the cache before sample `index` see `change`. */
  #isSettled(index: number, change: Change): boolean {
    return index === this.#end && !isPatch(change);
  }

  /** Returns whether the inputs of sample `index`, after the changes `sets`, are new to the kernel. */
  #isUnseen(index: number, sets: Changes): boolean {
    if (this.#again.has(index)) return false;
    return this.#turns?.settle === undefined ||
      [...sets.values()].flat().some((change) =>
        !this.#isSettled(index, change)
      );
  }

  begin(count: number, ns: number): void {
    this.#count = count;
    this.#padded = count >= RING;
    this.#settles = this.#padded && ns < LONG ? RING : 1;
    const { sets, gain, most, device } = this.options;
    if (this.#turns) this.#uses = this.#turns.fromNow();
    const used = this.#uses;
    const bytes = Math.max(
      ...sets.map((_, i) => this.#bytesOf(used(i))),
    );
    const plan = planSeries({
      count,
      gain,
      used,
      below: this.#below,
      inputs: this.#inputs,
      most: Math.min(most, Math.max(1, Math.floor(MOST_BYTES / bytes))),
      mayChange: (set) => this.#spare.length > 0 && !this.#isSpared(set),
      hasOriginal: this.#originals !== undefined,
      isWarm: this.#turns?.settle !== undefined,
      isLate: this.#isLate,
    });
    this.#stale = plan.stale;
    this.#patches = this.#upload(plan);
    this.#changes = this.#patches ? plan.changes : new Map();
    this.#again = this.#patches ? plan.again : new Set();
    this.#kept = this.#allocate(
      "copies of the outputs: they were not compared",
      (own) => {
        const all = own.use(device.alloc(plan.kept.length * bytes));
        return new Map(
          plan.kept.map((i, at) => [i, all.slice(at * bytes, bytes)]),
        );
      },
    ) ?? new Map();
    device.synchronize();
    this.#used = device.used?.() ?? [];
  }

  /** Returns the change of each count of used bytes since the series began. */
  taken(): readonly number[] {
    const now = this.options.device.used?.() ?? [];
    return now.map((bytes, i) => bytes - this.#used[i]!);
  }

  /**
   * Returns whether `set` is left unchanged: the first one, if the samples rotate over several. Its
   * last output is compared in full.
   */
  #isSpared(set: number): boolean {
    return set === 0 && this.#uses(0).length < this.options.sets.length;
  }

  /** Uploads the bytes of all patches; returns undefined if there is no room. */
  #upload({ changes }: SeriesPlan): ReadonlyMap<Change, Memory> | undefined {
    const patches = [...changes.values()].flatMap((sets) => [...sets.values()])
      .flat().flatMap((change) => change.kind === "patch" ? [change] : []);
    const bytes = patches.flatMap((patch) => [...patch.bytes]);
    const memory = this.#allocate(
      "changes of inputs: they stayed the same",
      (own) => own.use(this.options.device.alloc(Math.max(1, bytes.length))),
    );
    if (!memory) return undefined;
    memory.upload(Uint8Array.from(bytes));
    let at = 0;
    return new Map(patches.map((patch) => {
      const { length } = patch.bytes;
      at += length;
      return [patch, memory.slice(at - length, length)];
    }));
  }

  #bytesOf(sets: readonly number[]): number {
    return sets.flatMap((set) => this.#outputs[set]!).reduce(
      (sum, { whole }) => sum + whole.bytes,
      0,
    );
  }

  before(index: number): void {
    const changes = this.#changes.get(index);
    if (changes) this.#change(index, changes);
    const last = index === this.#count - 1;
    for (const set of this.#uses(index)) {
      const plain = last || this.#isSpared(set);
      // After a change, the right output of the old inputs serves as poison.
      const stale = changes !== undefined && this.#stale.has(index) &&
        this.#isUnseen(index, changes);
      this.#poison(set, { stale: stale && !plain, plain });
    }
  }

  /**
   * Whether a few elements change after the flush. Not with setup steps: they would read all inputs
   * after the flush.
   */
  get #isLate(): boolean {
    const { shared, plans } = this.options;
    return shared && this.#turns?.settle === undefined &&
      plans.every(({ plan }) => (plan.setup ?? []).length === 0);
  }

  flushed(index: number): void {
    const changes = this.#changes.get(index);
    if (changes && this.#isLate) this.#apply(index, changes, isPatch);
  }

  #change(index: number, sets: Changes): void {
    const late = this.#isLate;
    const settled = this.#apply(
      index,
      sets,
      (change) => this.#isSettled(index, change),
    );
    const settle = this.#turns?.settle;
    if (settle) { for (let i = 0; i < this.#settles; i++) settle(); }
    // After the calls that warm the cache: otherwise a kernel that remembers results would know that of
    // the next sample. Patches, and more or less copies of whole inputs, leave the cache warm. The same
    // copies are made again before the next sample, whose time is the basis of comparison.
    const others = this.#apply(
      index,
      sets,
      (change) => !this.#isSettled(index, change) && !(late && isPatch(change)),
    );
    this.#pad(settled.copies + others.copies, () => this.#idle());
    this.#pad(
      settled.launches + others.launches,
      () => this.options.nudge(),
    );
  }

  /** Makes those of the changes `sets` that are chosen by `is`, and counts what it queued. */
  #apply(
    index: number,
    sets: Changes,
    is: (change: Change) => boolean,
  ): { readonly copies: number; readonly launches: number } {
    let [copies, launches] = [0, 0];
    for (const [set, all] of sets) {
      const changes = all.filter(is);
      if (changes.length === 0) continue;
      for (const change of changes) {
        const { part, turn } = this.#inputs[set]![change.input]!;
        copies += changeOnDevice(change, {
          input: part,
          original: this.#originals?.[change.input],
          turned: turn,
          patch: this.#patches?.get(change),
        });
      }
      const { plan, setUp } = this.options.plans[set]!;
      setUp();
      launches += plan.setup?.length ?? 0;
      this.log.push({ kind: "change", index, set, changes });
    }
    return { copies, launches };
  }

  /** Queues a copy without effect. */
  #idle(): void {
    const [to, from] = this.#spare;
    if (to && from) to.copyFrom(from);
  }

  #pad(count: number, queue: () => void): void {
    if (!this.#padded) return;
    for (let i = count; i % RING !== 0; i++) queue();
  }

  #poison(
    set: number,
    { stale, plain }: { stale: boolean; plain: boolean },
  ): void {
    const poisoned = this.#poisoned[set]!;
    if (plain) {
      // As a whole, as its guard bands are checked after the series.
      const byte = anyPoison(this.#below);
      this.options.sets[set]!.poison(byte);
      this.#poisoned[set] = poisoned.map(() => ({ whole: byte, parts: [] }));
      return;
    }
    for (const [i, { operand, whole, part }] of this.#outputs[set]!.entries()) {
      const before = poisoned[i]!;
      const byte = anyPoison(this.#below);
      if (stale) {
        this.#spare[0]?.fill(byte);
      } else if (this.#below(2) === 0) {
        // In part: a kernel may check a few elements, and skip the work if they are right.
        const size = BYTES[operand.type];
        const from = this.#below(part.bytes / size) * size;
        const bytes = (1 + this.#below((part.bytes - from) / size)) * size;
        part.slice(from, bytes).fill(byte);
        const parts = [...before.parts, { from, bytes, byte }];
        poisoned[i] = { ...before, parts };
      } else {
        whole.fill(byte);
        poisoned[i] = { whole: byte, parts: [] };
      }
    }
  }

  after(index: number): void {
    const memory = this.#kept.get(index);
    if (!memory) return;
    let [at, copies] = [0, 0];
    const kept: Kept[] = [];
    for (const set of this.#uses(index)) {
      for (const [output, { whole }] of this.#outputs[set]!.entries()) {
        const copy = memory.slice(at, whole.bytes);
        copy.copyFrom(whole);
        kept.push({
          set,
          output,
          copy,
          poisoned: this.#poisoned[set]![output]!,
        });
        at += whole.bytes;
        copies++;
      }
    }
    this.#pad(copies, () => this.#idle());
    this.log.push({ kind: "kept", index, of: this.#count, kept });
  }

  [Symbol.dispose](): void {
    this.#scope.dispose();
  }
}

/** The effect of a changed element on an output of usual factors, in tolerances. */
const BEYOND = 8;
/** The number of output elements from which the usual size of an output is estimated. */
const SEEN = 4096;

/** Returns the {@linkcode GuardOptions.gain} at which one changed input shows in outputs like `right`. */
export function gainOf(
  { work }: Pick<Problem, "work">,
  right: readonly Numbers[],
  { rtol, atol }: Tolerance,
): number {
  let square = 0;
  let seen = 0;
  let outputs = 0;
  for (const values of right) {
    outputs += values.length;
    const step = Math.max(1, Math.floor(values.length / SEEN));
    for (let i = 0; i < values.length; i += step) {
      square += values[i]! ** 2;
      seen++;
    }
  }
  const size = Math.sqrt(square / seen) || 1;
  // The number of products that an output sums.
  const terms = Math.max(1, work.flops / 2 / outputs);
  return Math.max(2, BEYOND * Math.sqrt(terms) * (rtol + atol / size));
}
