/**
 * Compares outputs that were kept while a kernel was timed with the reference for the inputs of that
 * time.
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

/** The `bytes` bytes from byte `from` of an output, which were set to `byte`. */
interface Part {
  readonly from: number;
  readonly bytes: number;
  readonly byte: number;
}

/** The contents of an output before a sample. */
export interface Poisoned {
  /** The byte that it was filled with last, guard bands and padding included. */
  readonly whole: number;
  /** The parts that were filled after that. */
  readonly parts: readonly Part[];
}

/** A copy of output number `output` of set number `set`, between its guard bands. */
export interface Kept {
  readonly set: number;
  readonly output: number;
  readonly copy: Memory;
  readonly poisoned: Poisoned;
}

/** A change or a copy that a guard queued. */
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
    /** The number of samples of the series. */
    readonly of: number;
    readonly kept: readonly Kept[];
  };

/**
 * The number of compared elements of an output: two in each of `lines` random rows and columns, `near`
 * for each change, and `poison` of those that still are poison.
 */
const COMPARED = { lines: 8, near: 2, poison: 64 };
/** Wrong elements that must all agree with an explanation. */
const MOST_EXPLAINED = 3;
/** The number of last changes near which outputs are compared. */
const MOST_NEAR = 8;
/** The most sets of a batch that are compared at one sample. */
const MOST_SETS = 4;
/** Multiply-adds on the host for one series. */
const BUDGET = 6e6;
/**
 * Effective bits that may be missing while the kernel is timed. A changed element may be as large as the
 * rest of its sum. If it is summed first, all partial sums are that large, and their rounding errors
 * have twice the variance.
 */
const FEWER_BITS = 0.5;
/** The least and the most samples whose outputs are compared. */
const LIMITS = { least: 4, most: 64 };

/** Returns the number of samples whose outputs the host compares in a fraction of a second. */
export function comparable(problem: Problem, sets: number): number {
  const outputs = problem.operands.filter(({ role }) => role === "out");
  // Twice: the norms of elements in random rows and columns are computed too.
  const looks = 2 * 2 * COMPARED.lines + COMPARED.near * MOST_NEAR;
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
  /** Sends a sign of life. */
  beat(): void;
}

/** The inputs of one set at a time of the series. */
class Inputs {
  /** The changes since the inputs were the original ones, without those that later ones replaced. */
  #changes: Change[] = [];
  /** All changes of single elements. */
  readonly #near: Change[] = [];
  #originals: readonly Bytes[] | undefined;
  /** Copies of the inputs that changed. */
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

  /** Frees what can be computed again. */
  forget(): void {
    this.#originals = this.#now = this.#reference = undefined;
  }

  get #original(): readonly Bytes[] {
    return this.#originals ??= this.set.inputs;
  }

  get reference(): Reference {
    return this.#reference ??= this.problem.reference(this.#bytes());
  }

  /** Returns the inputs; changed ones in new arrays, as an op may cache by array. */
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
   * Returns the norm of the terms of element (`row`, `col`) of an output, divided by that with the
   * original inputs, at least 1. The errors of sums grow with it.
   */
  growth(output: number, row: number, col: number): number {
    const sizeIn = ({ norms }: Reference) =>
      norms?.(output, [row], [col])[0] ?? 0;
    const before = sizeIn(this.problem.reference(this.#original));
    return before > 0 ? Math.max(1, sizeIn(this.reference) / before) : 1;
  }
}

/**
 * Compares the kept outputs.
 *
 * @throws {CaseError} `wrong`: a {@linkcode WrongError} with the sample, the element and the likely
 * reason.
 */
export function checkKept(checked: Checked): void {
  const { problem, sets, log, below } = checked;
  const inputs = sets.map((set) => new Inputs(problem, set));
  const pool = new PrecisionPool();
  for (const [at, entry] of log.entries()) {
    if (entry.kind === "change") {
      inputs[entry.set]!.change(entry.changes);
      continue;
    }
    const some = randomSubset(
      entry.kept.map(({ set }) => set),
      MOST_SETS,
      below,
    );
    for (const kept of entry.kept) {
      if (!some.has(kept.set)) continue;
      // The inputs of all sets would not fit in memory.
      for (const [i, one] of inputs.entries()) if (i !== kept.set) one.forget();
      const flaw = errorIn(kept, { checked, inputs: inputs[kept.set]!, pool });
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

/** Elements of all samples, from which the precision of the timed kernel is estimated. */
class PrecisionPool {
  readonly #seen = new Set<string>();
  readonly #all: Summed[] = [];
  /** Those of partly poisoned outputs, which a kernel can tell from outputs of a check. */
  readonly #inPart: Summed[] = [];

  /** Adds the elements `indices` of an output; `right` are their reference values. */
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
      // The same sum has the same error.
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

  /** @throws {CaseError} `wrong`, if there are fewer effective bits than `checked` asks for. */
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

interface OutputError {
  readonly what: string;
  /** The likely reason, if it is known already. */
  readonly why?: string;
  readonly accuracy: WrongError["accuracy"];
  /** Some wrong elements. */
  readonly at?: readonly Mismatch[];
}

const NOT_DONE =
  "still poison, so the work was not done when the clock stopped";

function errorIn(
  kept: Kept,
  { checked, inputs, pool }: {
    checked: Checked;
    inputs: Inputs;
    pool: PrecisionPool;
  },
): OutputError | undefined {
  const { copy, output, poisoned } = kept;
  const { problem, tolerance, below } = checked;
  const operand = problem.operands.filter((o) => o.role === "out")[output]!;
  const { rows, ld, type } = operand;
  const bytes = copy.download();
  const end = BAND + rows * ld * BYTES[type];
  const part = bytes.subarray(BAND, end);
  const before = imageOf(poisoned, bytes.length);
  const poison = stillPoison(bytes, { operand, before, below });
  const some = sampleCrossings(operand, COMPARED.lines, below);
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
    at: wrong.slice(0, MOST_EXPLAINED),
    ...(still.has(first.index) ? { why: NOT_DONE } : {}),
  };
}

/** Returns the `bytes` bytes of an output with its guard bands, as they were before the sample. */
function imageOf({ whole, parts }: Poisoned, bytes: number): Uint8Array {
  const image = new Uint8Array(bytes).fill(whole);
  for (const { from, bytes, byte } of parts) {
    image.fill(byte, BAND + from, BAND + from + bytes);
  }
  return image;
}

/** Returns a random sample of the elements that the kernel did not write. */
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
      // Reservoir sampling.
      const place = seen++ < COMPARED.poison ? found.length : below(seen);
      if (place < COMPARED.poison) found[place] = i * cols + j;
    }
  }
  return found;
}

/** Returns elements in rows and columns of the output that depend on the last changes. */
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
    return Array.from({ length: COMPARED.near }, (_, i) => [
      ...(input.rows === rows ? [change.row * cols + some.columns[i]!] : []),
      ...(input.cols === rows ? [change.col * cols + some.columns[i]!] : []),
      ...(input.rows === cols ? [some.rows[i]! * cols + change.row] : []),
      ...(input.cols === cols ? [some.rows[i]! * cols + change.col] : []),
    ]).flat();
  });
}

/** Returns the error if guard bands or padding were overwritten. */
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

/** Returns the likely origin of wrong elements; empty if none agrees with all. */
function explain(
  { at }: OutputError,
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

function randomSubset(
  values: readonly number[],
  count: number,
  below: Below,
): ReadonlySet<number> {
  const all = [...new Set(values)];
  while (all.length > count) all.splice(below(all.length), 1);
  return new Set(all);
}
