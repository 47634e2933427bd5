/**
 * Compares outputs that were kept while a kernel was timed with those of the inputs that were in
 * place.
 *
 * @module
 */

import type { Memory } from "../device/queue.ts";
import {
  compare,
  compareAt,
  isClose,
  type Mismatch,
  mismatchNote,
  paddingNote,
  placeOf,
  rowOf,
  worse,
} from "./assert_close.ts";
import { type Below, type Change, changeOnHost } from "./changes.ts";
import { BAND, type OperandSet } from "./operands.ts";
import { precisionOf, type Summed } from "./precision.ts";
import { type Crossings, sampleCrossings } from "./spread.ts";
import { WrongError } from "./verify.ts";
import { BYTES } from "../model/dtype.ts";
import {
  type Operand,
  productsIn,
  type Reference,
  type Tolerance,
} from "../model/problem.ts";
import type { Problem } from "../model/suite.ts";

type Bytes = Uint8Array<ArrayBuffer>;

/** Bytes of an output that were set to `byte`, from its start on. */
interface Part {
  readonly from: number;
  readonly bytes: number;
  readonly byte: number;
}

/** The bytes that an output had before a sample, as far as the kernel did not write them. */
export interface Poisoned {
  /** What it was filled with last, guard bands and padding included. */
  readonly whole: number;
  /** What was filled after that. */
  readonly parts: readonly Part[];
}

/** A copy of output number `output` of set number `set`, between its guard bands. */
export interface Kept {
  readonly set: number;
  readonly output: number;
  readonly copy: Memory;
  readonly poisoned: Poisoned;
}

/** An entry of what a guard did. */
export type Log =
  | {
    readonly kind: "change";
    readonly index: number;
    readonly set: number;
    readonly changes: readonly Change[];
  }
  | {
    readonly kind: "kept";
    readonly index: number;
    /** Samples of the series. */
    readonly of: number;
    readonly kept: readonly Kept[];
  };

/**
 * Elements of an output that are compared: near changes, still poison, and two in each of so many
 * rows and columns at random.
 */
const LOOKS = { lines: 8, near: 2, poison: 64 };
/** Wrong elements that must all fit what a message suggests. */
const TOLD = 3;
/** Changed elements near which outputs are compared: those that changed last. */
const MOST_NEAR = 8;
/** Sets of a batch that are compared at one sample. */
const MOST_SETS = 4;
/** Multiplications and additions on the host for one series. */
const BUDGET = 6e6;
/**
 * Bits that may be missing where the kernel is timed: a changed element may be as large as the rest
 * of its sum together, and where it is the first, all partial sums are so large that their
 * roundings have twice the variance.
 */
const FEWER_BITS = 0.5;
const LIMITS = { least: 4, most: 64 };

/** Returns the number of samples whose outputs the host compares in a fraction of a second. */
export function comparable(problem: Problem, sets: number): number {
  const outputs = problem.operands.filter(({ role }) => role === "out");
  // The terms of those in rows and columns at random are looked at too.
  const looks = 2 * 2 * LOOKS.lines + LOOKS.near * MOST_NEAR;
  const one = productsIn(problem) * looks * outputs.length *
    Math.min(sets, MOST_SETS);
  return Math.max(
    LIMITS.least,
    Math.min(LIMITS.most, Math.floor(BUDGET / one)),
  );
}

/** The inputs of a check. */
export interface Checked {
  readonly problem: Problem;
  readonly sets: readonly OperandSet[];
  readonly tolerance: Tolerance;
  /** The least effective bits of a result; undefined if any number will do. */
  readonly bits: number | undefined;
  readonly log: readonly Log[];
  readonly below: Below;
  /** Says that the host is at work. */
  beat(): void;
}

/** The inputs of one set as they were at some time. */
class Inputs {
  /** Those that are not undone by later ones, since the inputs were the original ones. */
  #changes: Change[] = [];
  /** Places that changed. */
  readonly #near: Change[] = [];
  #originals: readonly Bytes[] | undefined;
  /** Copies of those that changed. */
  #now: (Bytes | undefined)[] | undefined;
  #reference: Reference | undefined;

  constructor(readonly problem: Problem, readonly set: OperandSet) {}

  get near(): readonly Change[] {
    return this.#near;
  }

  change(changes: readonly Change[]): void {
    this.#reference = undefined;
    for (const change of changes) {
      if (change.kind === "patch") this.#near.push(change);
      else {
        this.#changes = this.#changes.filter(({ input }) =>
          input !== change.input
        );
      }
      this.#changes.push(change);
      if (this.#now) changeOnHost(change, this.#now, this.#original);
    }
  }

  /** Frees what can be made again. */
  forget(): void {
    this.#originals = this.#now = this.#reference = undefined;
  }

  get #original(): readonly Bytes[] {
    return this.#originals ??= this.set.inputs;
  }

  get reference(): Reference {
    return this.#reference ??= this.problem.reference(this.#bytes());
  }

  /** The inputs, in arrays of their own where they changed: an operation may keep what it read. */
  #bytes(): readonly Bytes[] {
    const originals = this.#original;
    if (!this.#now) {
      this.#now = [];
      for (const one of this.#changes) changeOnHost(one, this.#now, originals);
    }
    const now = this.#now;
    return originals.map((bytes, i) =>
      now[i] ? new Uint8Array(now[i].buffer) : bytes
    );
  }

  /**
   * Returns how many times as large as with the original inputs the terms are that element (`row`,
   * `col`) of output number `output` sums, at least 1. Errors of sums grow with their terms.
   */
  growth(output: number, row: number, col: number): number {
    const sizeIn = ({ norms }: Reference) =>
      norms?.(output, [row], [col])[0] ?? 0;
    const before = sizeIn(this.problem.reference(this.#original));
    return before > 0 ? Math.max(1, sizeIn(this.reference) / before) : 1;
  }
}

/**
 * Compares what `log` kept.
 *
 * @throws {CaseError} `wrong`: a {@linkcode WrongError} that says at which sample, which element
 * and why.
 */
export function checkKept(checked: Checked): void {
  const { problem, sets, log, below } = checked;
  const inputs = sets.map((set) => new Inputs(problem, set));
  const pool = new Pool();
  for (const [at, entry] of log.entries()) {
    if (entry.kind === "change") {
      inputs[entry.set]!.change(entry.changes);
      continue;
    }
    const some = someOf(entry.kept.map(({ set }) => set), MOST_SETS, below);
    for (const kept of entry.kept) {
      if (!some.has(kept.set)) continue;
      // Of many sets together they would not fit in memory.
      for (const [i, one] of inputs.entries()) if (i !== kept.set) one.forget();
      const flaw = flawOf(kept, { checked, inputs: inputs[kept.set]!, pool });
      checked.beat();
      if (!flaw) continue;
      const earlier = log.slice(0, at);
      const why = flaw.why ?? explain(flaw, { kept, checked, earlier, inputs });
      const place = [
        `sample ${entry.index + 1} of ${entry.of}`,
        ...(sets.length > 1
          ? [`input set ${kept.set + 1} of ${sets.length}`]
          : []),
      ].join(", ");
      throw new WrongError(
        `while timed, at ${place}: ${flaw.what}${why ? `: ${why}` : ""}`,
        flaw.accuracy,
      );
    }
  }
  pool.demand(checked);
}

/** Elements of all samples together, by which the precision of what is timed is known. */
class Pool {
  readonly #seen = new Set<string>();
  readonly #all: Summed[] = [];
  /** Those of outputs that were poison in part: a kernel can tell them from those of a check. */
  readonly #inPart: Summed[] = [];

  /** Adds the elements `indices` of an output, of which `right` are the right values. */
  add(
    { output, poisoned }: Kept,
    { operand, bytes, indices, right, reference }: {
      operand: Operand;
      bytes: Bytes;
      indices: readonly number[];
      right: ArrayLike<number>;
      reference: Reference;
    },
  ): void {
    if (!reference.norms) return;
    const own: number[] = [];
    for (let i = 0; i < indices.length; i++) {
      // The same sum again has the same error, and tells nothing new.
      const key = `${output} ${indices[i]} ${right[i]}`;
      if (!this.#seen.has(key)) own.push(i);
      this.#seen.add(key);
    }
    const places = own.map((i) => indices[i]!);
    const norms = places.map((index) => {
      const [row, col] = placeOf(operand, index);
      return reference.norms!(output, [row], [col])[0]!;
    });
    const summed: Summed = {
      ...rowOf({ operand, bytes }, places),
      right: Float64Array.from(own, (i) => right[i]!),
      terms: {
        rows: [0],
        columns: [...own.keys()],
        norms: Float64Array.from(norms),
      },
    };
    this.#all.push(summed);
    if (poisoned.parts.length > 0) this.#inPart.push(summed);
  }

  /** @throws {CaseError} `wrong`, where there are fewer effective bits than `checked` asks for. */
  demand({ bits: asked, tolerance }: Checked): void {
    if (asked === undefined) return;
    for (const some of [this.#all, this.#inPart]) {
      const { bits, wrong } = precisionOf(some, asked - FEWER_BITS);
      if (wrong === undefined) continue;
      const names = new Set(some.map(({ operand }) => operand.name));
      throw new WrongError(`while timed: ${[...names].join(", ")}: ${wrong}`, {
        ...some.map((one) => compare(one, tolerance).accuracy).reduce(worse),
        ...(bits === undefined ? {} : { bits: Math.round(10 * bits) / 10 }),
      });
    }
  }
}

interface Flaw {
  readonly what: string;
  /** What it suggests, if that is known already. */
  readonly why?: string;
  readonly accuracy: WrongError["accuracy"];
  /** Some wrong elements. */
  readonly at?: readonly Mismatch[];
}

const NOT_DONE =
  "still poison, so the work was not done when the clock stopped";

function flawOf(
  kept: Kept,
  { checked, inputs, pool }: { checked: Checked; inputs: Inputs; pool: Pool },
): Flaw | undefined {
  const { copy, output, poisoned } = kept;
  const { problem, tolerance, below } = checked;
  const operand = problem.operands.filter((o) => o.role === "out")[output]!;
  const { rows, ld, type } = operand;
  const bytes = copy.download();
  const end = BAND + rows * ld * BYTES[type];
  const part = bytes.subarray(BAND, end);
  const before = imageOf(poisoned, bytes.length);
  const poison = stillPoison(bytes, { operand, before, below });
  const some = sampleCrossings(operand, LOOKS.lines, below);
  const chosen = [...new Set(some.indices)];
  const indices = [
    ...new Set([
      ...chosen,
      ...nearby(inputs.near, { problem, operand, some }),
      ...poison,
    ]),
  ];
  const { reference } = inputs;
  const right = reference.at(output, indices);
  const { accuracy, wrong: far } = compareAt(
    { operand, bytes: part, right },
    indices,
    tolerance,
  );
  const wrong = far.filter(({ index, got, want }) => {
    const [row, col] = placeOf(operand, index);
    const atol = tolerance.atol * inputs.growth(output, row, col);
    return !isClose(got, want, { ...tolerance, atol });
  });
  if (wrong.length === 0) {
    pool.add(kept, {
      operand,
      bytes: part,
      indices: chosen,
      right,
      reference,
    });
    const touched = touchedOutside(bytes, { operand, before });
    return touched === undefined ? undefined : { what: touched, accuracy };
  }
  const still = new Set(poison);
  const first = wrong.find(({ index }) => still.has(index)) ?? wrong[0]!;
  return {
    what: `${
      mismatchNote(operand, first)
    } (${wrong.length} of ${indices.length} compared elements are wrong)`,
    accuracy,
    at: wrong.slice(0, TOLD),
    ...(still.has(first.index) ? { why: NOT_DONE } : {}),
  };
}

/** An output between its guard bands, as a kernel found it, of `bytes`. */
function imageOf({ whole, parts }: Poisoned, bytes: number): Uint8Array {
  const image = new Uint8Array(bytes).fill(whole);
  for (const { from, bytes, byte } of parts) {
    image.fill(byte, BAND + from, BAND + from + bytes);
  }
  return image;
}

/** Elements that are as the kernel found them, at most {@linkcode LOOKS}. */
function stillPoison(
  bytes: Uint8Array,
  { operand: { rows, cols, ld, type }, before, below }: {
    operand: Operand;
    before: Uint8Array;
    below: Below;
  },
): readonly number[] {
  const size = BYTES[type];
  const found: number[] = [];
  let seen = 0;
  for (let i = 0; i < rows; i++) {
    for (let j = 0; j < cols; j++) {
      const at = BAND + (i * ld + j) * size;
      let b = at;
      while (b < at + size && bytes[b] === before[b]) b++;
      if (b < at + size) continue;
      // A sample of all, each as likely.
      const place = seen++ < LOOKS.poison ? found.length : below(seen);
      if (place < LOOKS.poison) found[place] = i * cols + j;
    }
  }
  return found;
}

/** Elements that changes probably show in, by their row or column, in some columns or rows. */
function nearby(
  changes: readonly Change[],
  { problem, operand: { rows, cols }, some }: {
    problem: Problem;
    operand: Operand;
    some: Crossings;
  },
): readonly number[] {
  const inputs = problem.operands.filter(({ role }) => role === "in");
  return changes.slice(-MOST_NEAR).flatMap((change) => {
    if (change.kind !== "patch") return [];
    const input = inputs[change.input]!;
    return Array.from({ length: LOOKS.near }, (_, i) => [
      ...(input.rows === rows ? [change.row * cols + some.columns[i]!] : []),
      ...(input.cols === rows ? [change.col * cols + some.columns[i]!] : []),
      ...(input.rows === cols ? [some.rows[i]! * cols + change.row] : []),
      ...(input.cols === cols ? [some.rows[i]! * cols + change.col] : []),
    ]).flat();
  });
}

/** Says where guard bands or padding were written to. */
function touchedOutside(
  bytes: Uint8Array,
  { operand: { name, rows, cols, ld, type }, before }: {
    operand: Operand;
    before: Uint8Array;
  },
): string | undefined {
  const differs = (from: number, to: number) => {
    while (from < to && bytes[from] === before[from]) from++;
    return from < to;
  };
  const size = BYTES[type];
  const end = BAND + rows * ld * size;
  if (differs(0, BAND)) return `${name}: wrote before its start`;
  if (differs(end, bytes.length)) return `${name}: wrote past its end`;
  for (let i = 0; i < rows; i++) {
    const row = BAND + i * ld * size;
    if (differs(row + cols * size, row + ld * size)) {
      return paddingNote({ name, ld }, i);
    }
  }
}

/** Says where a wrong element may come from; empty where nothing fits. */
function explain(
  { at }: Flaw,
  { kept: { set, output }, checked, earlier, inputs }: {
    kept: Kept;
    checked: Checked;
    earlier: readonly Log[];
    inputs: readonly Inputs[];
  },
): string {
  if (!at) return "";
  const { sets, problem, tolerance } = checked;
  const indices = at.map(({ index }) => index);
  const is = (one: Inputs) =>
    one.reference.at(output, indices).every((want, i) =>
      isClose(at[i]!.got, want, tolerance)
    );
  const before = new Inputs(problem, sets[set]!);
  const remembered =
    "right for earlier inputs, so it was remembered and not computed";
  for (const entry of earlier) {
    if (entry.kind !== "change" || entry.set !== set) continue;
    if (is(before)) return remembered;
    before.change(entry.changes);
  }
  const other = inputs.findIndex((one, i) => i !== set && is(one));
  return other < 0
    ? ""
    : `right for input set ${other + 1}, so it was copied from there`;
}

function someOf(
  values: readonly number[],
  count: number,
  below: Below,
): ReadonlySet<number> {
  const all = [...new Set(values)];
  while (all.length > count) all.splice(below(all.length), 1);
  return new Set(all);
}
