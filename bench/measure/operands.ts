/**
 * Places a problem's operands in device memory, inputs uploaded, outputs poisoned, each
 * between guard bands; computes the reference outputs on the host or by an f64 kernel.
 *
 * @module
 */

import type { Device } from "../device/device.ts";
import type { Memory } from "../device/queue.ts";
import { POISON } from "./assert_close.ts";
import { type Terms, termsOf } from "./precision.ts";
import { spreadIndices } from "./spread.ts";
import { BYTES, decode } from "../model/dtype.ts";
import { CaseError } from "../model/errors.ts";
import type { Values } from "../model/grid.ts";
import type { InputOptions } from "../model/inputs.ts";
import {
  elementsOf,
  type Operand,
  type Operands,
  type Reference,
} from "../model/problem.ts";
import type { Problem, Runnable } from "../model/suite.ts";

/** Bytes on either side of an operand; keeps its alignment. */
export const BAND = 4096;

/** An operand in device memory. */
export interface Placed {
  readonly operand: Operand;
  /** The operand between its guard bands. */
  readonly whole: Memory;
  readonly part: Memory;
  /** The expected contents of an input; missing for an output. */
  readonly bytes?: Uint8Array<ArrayBuffer>;
}

function bytesOf(operand: Operand): number {
  return elementsOf(operand) * BYTES[operand.type];
}

/** Bytes of an operand and its guard bands. */
export function roomOf(operand: Operand): number {
  return Math.ceil(bytesOf(operand) / BAND) * BAND + 2 * BAND;
}

/** One set of a problem's operands. Dispose it to free them. */
export class OperandSet implements Disposable {
  readonly #placed: Placed[] = [];
  readonly #scope = new DisposableStack();
  /** The inputs' stored bytes, padding as generated: what the reference computes from. */
  readonly inputs: readonly Uint8Array<ArrayBuffer>[];

  /** @throws {CaseError} `oom`, where the device has no room. */
  constructor(
    readonly problem: Problem,
    device: Device,
    options: InputOptions,
  ) {
    let input = 0;
    try {
      // Before any input is made: what has no room at all is to be known at once.
      const rooms = problem.operands.map((operand) => {
        const bytes = bytesOf(operand);
        const whole = this.#scope.use(device.alloc(roomOf(operand)));
        return { operand, whole, part: whole.slice(BAND, bytes) };
      });
      this.inputs = inputsOf(problem, options);
      for (const { operand, whole, part } of rooms) {
        whole.fill(POISON);
        if (operand.role === "out") {
          this.#placed.push({ operand, whole, part });
        } else {
          const data = poisonPadding(operand, this.inputs[input++]!);
          part.upload(data);
          this.#placed.push({ operand, whole, part, bytes: data });
        }
      }
    } catch (error) {
      this.#scope.dispose();
      throw error;
    }
  }

  /** The operands in their order. */
  get placed(): readonly Placed[] {
    return this.#placed;
  }

  /** The memory of each operand, by name. */
  get memory(): Operands {
    return Object.fromEntries(
      this.#placed.map(({ operand, part }) => [operand.name, part]),
    );
  }

  /** Makes the outputs and their bands poison again. */
  poison(): void {
    for (const { whole, bytes } of this.#placed) {
      if (!bytes) whole.fill(POISON);
    }
  }

  /** The outputs as stored, in the order of the operands. */
  outputs(): { operand: Operand; bytes: Uint8Array<ArrayBuffer> }[] {
    return this.#placed.filter(({ bytes }) => !bytes).map((
      { operand, part },
    ) => ({ operand, bytes: part.download() }));
  }

  /** Returns the error where a guard band or an input was overwritten. */
  damage(): string | undefined {
    for (const { operand: { name }, whole, part, bytes } of this.#placed) {
      const now = whole.download();
      const before = now.subarray(0, BAND).findIndex((b) => b !== POISON);
      if (before >= 0) {
        return `${name}: wrote ${BAND - before} bytes before its start`;
      }
      const after = now.subarray(BAND + part.bytes).findLastIndex((b) =>
        b !== POISON
      );
      if (after >= 0) return `${name}: wrote ${after + 1} bytes past its end`;
      const changed = bytes ? firstDifference(now.subarray(BAND), bytes) : -1;
      if (changed >= 0) {
        return `${name}: is an input, and was changed at byte ${changed}`;
      }
    }
  }

  [Symbol.dispose](): void {
    this.#scope.dispose();
  }
}

/** The stored inputs. @throws {CaseError} `oom`, where the host has no room for them. */
function inputsOf(
  problem: Problem,
  options: InputOptions,
): readonly Uint8Array<ArrayBuffer>[] {
  try {
    return problem.inputs(options);
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    throw new CaseError(
      "oom",
      `Cannot hold the inputs on the host: ${error.message}`,
      { cause: error },
    );
  }
}

/** `bytes` with all that no row owns as poison: reading it spoils a sum. */
function poisonPadding(
  { rows, cols, ld, type }: Operand,
  bytes: Uint8Array<ArrayBuffer>,
): Uint8Array<ArrayBuffer> {
  if (ld === cols) return bytes;
  const copy = bytes.slice();
  const size = BYTES[type];
  for (let i = 0; i < rows; i++) {
    copy.fill(POISON, (i * ld + cols) * size, (i + 1) * ld * size);
  }
  return copy;
}

/** The first byte of `wanted` that `got` does not begin with; -1 where there is none. */
function firstDifference(
  got: Uint8Array<ArrayBuffer>,
  wanted: Uint8Array<ArrayBuffer>,
): number {
  const words = wanted.length >> 2;
  const [a, b] = [got, wanted].map((bytes) =>
    new Int32Array(bytes.buffer, bytes.byteOffset, words)
  ) as [Int32Array, Int32Array];
  let word = 0;
  while (word < words && a[word] === b[word]) word++;
  for (let i = 4 * word; i < wanted.length; i++) {
    if (got[i] !== wanted[i]) return i;
  }
  return -1;
}

/** Flops above which the host's reference would take seconds. */
export const HOST_FLOPS = 1e9;
const SAMPLE = 256;
/** Both accumulate in f64; only the order of the sums differs. */
const AGREEMENT = 1e-9;

/** Runs plans for a reference: an open device, and building for it. */
export interface ReferenceRunner {
  readonly device: Device;
  readonly options: { readonly backend: { readonly name: string } };
  prepare(
    runnable: Runnable,
    options: { readonly config: Values; readonly operands: Operands },
  ): Promise<Disposable & { run(): void }>;
}

/** The right outputs of a problem, in their order. */
export interface Right {
  /** `rows × cols` values of each, unpadded. */
  readonly values: readonly Float64Array[];
  /** The terms of some elements of each; undefined where the operation does not tell. */
  readonly terms: readonly (Terms | undefined)[];
}

/** Computes the right outputs of the problem of `set`. */
export async function referenceOf(
  set: OperandSet,
  context: ReferenceRunner,
): Promise<Right> {
  const { problem, inputs } = set;
  const host = problem.reference(inputs);
  const kernel = problem.work.flops > HOST_FLOPS
    ? problem.referenceKernel(context.options.backend.name)
    : undefined;
  const outputs = problem.operands.filter((o) => o.role === "out");
  const values = kernel
    ? await judged(set, { context, kernel, host })
    : outputs.map((_, i) => host.all(i));
  return { values, terms: termsOf(outputs, host, problem.work.flops) };
}

/** The outputs of the reference kernel, once a golden-ratio sample of them agrees with the host's. */
async function judged(
  { problem, memory }: OperandSet,
  { context, kernel, host }: {
    context: ReferenceRunner;
    kernel: Runnable;
    host: Reference;
  },
): Promise<Float64Array[]> {
  using scope = new DisposableStack();
  const outputs = problem.operands.filter((o) => o.role === "out").map(
    ({ name, rows, cols }) => ({
      name,
      memory: scope.use(context.device.alloc(rows * cols * BYTES.f64)),
    }),
  );
  const own = Object.fromEntries(outputs.map((o) => [o.name, o.memory]));
  using prepared = await context.prepare(kernel, {
    config: {},
    operands: { ...memory, ...own },
  });
  prepared.run();
  context.device.synchronize();
  return outputs.map(({ memory }, output) => {
    const right = decode(memory.download(), "f64");
    // Freed memory keeps its bytes, which a kernel could find.
    memory.fill(POISON);
    const indices = spreadIndices(right.length, SAMPLE);
    host.at(output, indices).forEach((want, i) => {
      const got = right[indices[i]!]!;
      if (!(Math.abs(got - want) <= AGREEMENT * (1 + Math.abs(want)))) {
        throw new Error(
          `Cannot trust the f64 reference on ${context.device.info.name}: element ${
            indices[i]
          } is ${got}, the host has ${want}`,
        );
      }
    });
    return right;
  });
}
