/**
 * Places the operands of a problem in device memory, each between guard bands: inputs are uploaded,
 * outputs poisoned. Computes the reference outputs on the host or by an f64 kernel.
 *
 * @module
 */

import type { Device } from "../device/device.ts";
import type { Memory } from "../device/queue.ts";
import { isClose, POISON } from "./assert_close.ts";
import { piecesOf, rotateInto, type StoredInput, turnsOf } from "./changes.ts";
import { type Numbers, type Terms, termsOf } from "./precision.ts";
import { spreadIndices } from "./spread.ts";
import { BYTES, decode } from "../model/dtype.ts";
import { CaseError } from "../model/errors.ts";
import type { Values } from "../model/grid.ts";
import { type InputOptions, mix } from "../model/inputs.ts";
import {
  type Operand,
  type Operands,
  type Reference,
  storedBytes,
} from "../model/problem.ts";
import type { Problem, Runnable } from "../model/suite.ts";

/** Bytes of a guard band, on either side of an operand. They keep its alignment. */
export const BAND = 4096;

/** An operand in device memory. */
export interface Placed {
  readonly operand: Operand;
  /** The operand between its guard bands. */
  readonly whole: Memory;
  readonly part: Memory;
}

type Bytes = Uint8Array<ArrayBuffer>;

/** An input in device memory. */
class PlacedInput implements Placed, StoredInput {
  /**
   * @param first The expected contents of this input in the first set.
   * @param turn Bytes by which the contents of this set are rotated: so many bytes from the start of
   * `first` are at the end.
   */
  constructor(
    readonly operand: Operand,
    readonly whole: Memory,
    readonly part: Memory,
    readonly first: Bytes,
    readonly turn: number,
  ) {}

  /** The expected contents; a copy, if they are rotated. */
  get bytes(): Bytes {
    return this.turn === 0
      ? this.first
      : rotateInto(new Uint8Array(this.first.length), this.first, this.turn);
  }

  read(offset: number, count: number): Bytes {
    const at = (offset + this.turn) % this.first.length;
    return this.first.slice(at, at + count);
  }
}

/** Returns the bytes of an operand with its guard bands. */
function roomOf(operand: Operand): number {
  return Math.ceil(storedBytes(operand) / BAND) * BAND + 2 * BAND;
}

/** Returns the bytes of a set of operands of which no two share a page of `pageBytes`. */
export function roomOfSet(
  operands: readonly Operand[],
  pageBytes = 1,
): number {
  return operands.reduce(
    (sum, operand) => sum + Math.max(roomOf(operand), pageBytes),
    0,
  );
}

/** The first set, and the number of another one; undefined for a copy of the first. */
interface Another {
  readonly first: OperandSet;
  readonly number: number | undefined;
}

/** One set of a problem's operands. Dispose it to free them. */
export class OperandSet implements Disposable {
  readonly #scope = new DisposableStack();
  readonly #made: readonly Bytes[];
  readonly #first: OperandSet;
  /** The byte that the outputs and their guard bands were filled with last. */
  #poison = POISON;
  /** The operands in their order. */
  readonly placed: readonly (Placed | PlacedInput)[];
  /** The inputs in their order. */
  readonly ins: readonly PlacedInput[];
  /** The outputs in their order. */
  readonly outs: readonly Placed[];

  /**
   * @param from How the inputs are made: generated, or copied on the device from the first set in
   * another order, because to generate them takes seconds.
   * @param pageBytes The page size: no two operands share a page. @default {1}
   * @throws {CaseError} `oom`, if the device has no room.
   */
  constructor(
    readonly problem: Problem,
    device: Pick<Device, "alloc">,
    from: InputOptions | Another,
    pageBytes = 1,
  ) {
    try {
      // Allocates first: generating inputs takes seconds, and there may be no room.
      const rooms = problem.operands.map((operand) => {
        const bytes = storedBytes(operand);
        const room = roomOf(operand);
        const pages = this.#scope.use(
          device.alloc(Math.max(room, pageBytes)),
        );
        const whole = pages.slice(0, room);
        return { operand, whole, part: whole.slice(BAND, bytes) };
      });
      this.#first = "first" in from ? from.first : this;
      this.#made = "first" in from ? [] : inputsOf(problem, from);
      const ins: PlacedInput[] = [];
      this.placed = rooms.map((room) => {
        room.whole.fill(POISON);
        if (room.operand.role === "out") return room;
        const input = "first" in from
          ? rotatedCopy(room, from.first.ins[ins.length]!, from.number)
          : uploaded(room, this.#made[ins.length]!);
        ins.push(input);
        return input;
      });
      this.ins = ins;
      this.outs = this.placed.filter(({ operand }) => operand.role === "out");
    } catch (error) {
      this.#scope.dispose();
      throw error;
    }
  }

  /** Returns whether the inputs are those of `other` in the same order. */
  isCopyOf(other: OperandSet): boolean {
    return this.#first === other && this.ins.every(({ turn }) => turn === 0);
  }

  /** The stored bytes of the inputs, from which the reference is computed. */
  get inputs(): readonly Bytes[] {
    return this.#first === this
      ? this.#made
      : this.ins.map(({ bytes }) => bytes);
  }

  /** The memory of each operand, by name. */
  get memory(): Operands {
    return Object.fromEntries(
      this.placed.map(({ operand, part }) => [operand.name, part]),
    );
  }

  /** Fills the outputs and their guard bands with `byte`. */
  poison(byte = POISON): void {
    this.#poison = byte;
    for (const { whole } of this.outs) whole.fill(byte);
  }

  /** Downloads the outputs, in the order of the operands, with the byte they were filled with. */
  outputs(): { operand: Operand; bytes: Bytes; poison: number }[] {
    return this.outs.map(({ operand, part }) => ({
      operand,
      bytes: part.download(),
      poison: this.#poison,
    }));
  }

  /**
   * Returns the error if a guard band or an input was overwritten.
   *
   * @param inputs Whether inputs are compared too, for which they are downloaded.
   */
  damage(inputs = true): string | undefined {
    for (const { operand: { name, role }, whole, part } of this.placed) {
      const poison = role === "out" ? this.#poison : POISON;
      const before = whole.slice(0, BAND).download().findIndex((b) =>
        b !== poison
      );
      if (before >= 0) {
        return `${name}: wrote ${BAND - before} bytes before its start`;
      }
      const end = BAND + part.bytes;
      const after = whole.slice(end, whole.bytes - end).download()
        .findLastIndex((b) => b !== poison);
      if (after >= 0) return `${name}: wrote ${after + 1} bytes past its end`;
    }
    for (const { operand: { name }, part, bytes } of inputs ? this.ins : []) {
      const changed = changedAt(part, bytes);
      if (changed >= 0) {
        return `${name}: is an input, and was changed at byte ${changed}`;
      }
    }
  }

  [Symbol.dispose](): void {
    this.#scope.dispose();
  }
}

function uploaded({ operand, whole, part }: Placed, made: Bytes): PlacedInput {
  const data = fillPadding(operand, made, POISON);
  part.upload(data);
  return new PlacedInput(operand, whole, part, data, 0);
}

/** Copies input `first` with its elements rotated by an amount that depends on the set's `number`. */
function rotatedCopy(
  { operand, whole, part }: Placed,
  first: PlacedInput,
  number: number | undefined,
): PlacedInput {
  const { unit, units } = turnsOf(operand);
  const turn = number === undefined
    ? 0
    : unit * placeInRotation(number, units, operand.name);
  for (const { from, to, bytes } of piecesOf(turn, part.bytes)) {
    part.slice(to, bytes).copyFrom(first.part.slice(from, bytes));
  }
  return new PlacedInput(operand, whole, part, first.first, turn);
}

/** Returns the rotation of set `number`, from 1 to `units` - 1, different for each set. */
function placeInRotation(number: number, units: number, name: string): number {
  const places = units - 1;
  if (places < 2) return places;
  let step = Math.ceil(places * 0.618);
  while (divisorOf(step, places) > 1) step++;
  const start = [...name].reduce((h, c) => mix(h + c.codePointAt(0)!), 0);
  return 1 + (start + number * step) % places;
}

function divisorOf(a: number, b: number): number {
  return b === 0 ? a : divisorOf(b, a % b);
}

/** Generates the stored inputs. @throws {CaseError} `oom`, if the host has no room for them. */
function inputsOf(problem: Problem, options: InputOptions): readonly Bytes[] {
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

/** Returns `bytes` with the padding of rows filled with `byte`: reading poison there spoils a sum. */
export function fillPadding(
  { rows, cols, ld, type }: Operand,
  bytes: Bytes,
  byte: number,
): Bytes {
  if (ld === cols) return bytes;
  const copy = bytes.slice();
  const size = BYTES[type];
  for (let i = 0; i < rows; i++) {
    copy.fill(byte, (i * ld + cols) * size, (i + 1) * ld * size);
  }
  return copy;
}

/** Bytes of device memory that are downloaded at a time. */
const PIECE = 1 << 22;

/** Yields the bytes of `memory` in parts. */
function* piecesIn(
  memory: Memory,
): Generator<{ readonly at: number; readonly bytes: Bytes }> {
  for (let at = 0; at < memory.bytes; at += PIECE) {
    const part = memory.slice(at, Math.min(PIECE, memory.bytes - at));
    yield { at, bytes: part.host ?? part.download() };
  }
}

/** Returns the index of the first byte of `memory` that differs from `wanted`; -1 if none does. */
export function changedAt(memory: Memory, wanted: Bytes): number {
  for (const { at, bytes } of piecesIn(memory)) {
    const found = firstDifference(
      bytes,
      wanted.subarray(at, at + bytes.length),
    );
    if (found >= 0) return at + found;
  }
  return -1;
}

/** Returns the index of the first byte of `wanted` that differs from `got`; -1 if none does. */
function firstDifference(got: Bytes, wanted: Bytes): number {
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

/** Flops above which the reference on the host would take seconds. */
export const HOST_FLOPS = 1e9;
/** Elements of the reference kernel that are compared with the host's. */
const SAMPLE = 256;
/** The tolerance of that comparison: both sum in f64, in different orders. */
const AGREEMENT = 1e-9;

/** The parts of a context that {@linkcode referenceOf} uses. */
export interface ReferenceRunner {
  readonly device: Device;
  readonly options: { readonly backend: { readonly name: string } };
  prepare(
    runnable: Runnable,
    options: { readonly config: Values; readonly operands: Operands },
  ): Promise<Disposable & { run(): void }>;
}

/** The reference outputs of a problem, in their order. */
export interface Right {
  /** `rows × cols` values of each, unpadded. */
  readonly values: readonly Numbers[];
  /** The terms of some elements of each; undefined if the operation does not give them. */
  readonly terms: readonly (Terms | undefined)[];
}

/** Computes the reference outputs of the problem of `set`. */
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
    ? await outputsOfKernel(set, { context, kernel, host })
    : outputs.map((_, i) => host.all(i));
  return { values, terms: termsOf(outputs, host, problem.work.flops) };
}

/** Returns the outputs of the reference kernel, after a sample of them agreed with the host's. */
async function outputsOfKernel(
  { problem, memory }: OperandSet,
  { context, kernel, host }: {
    context: ReferenceRunner;
    kernel: Runnable;
    host: Reference;
  },
): Promise<Numbers[]> {
  using scope = new DisposableStack();
  const outputs = problem.operands.filter((o) => o.role === "out").map(
    ({ name, type, rows, cols }) => ({
      name,
      type,
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
  return outputs.map(({ memory, type }, output) => {
    const length = memory.bytes / BYTES.f64;
    const indices = spreadIndices(length, SAMPLE);
    // f32 suffices for outputs of 16 bits, and takes half the memory.
    const right = new (BYTES[type] > 2 ? Float64Array : Float32Array)(length);
    const seen = new Float64Array(indices.length);
    for (const { at, bytes } of piecesIn(memory)) {
      const some = decode(bytes, "f64");
      const first = at / BYTES.f64;
      right.set(some, first);
      for (const [i, index] of indices.entries()) {
        seen[i] = some[index - first] ?? seen[i]!;
      }
    }
    // Freed memory keeps its contents, and a kernel could find the right outputs there.
    memory.fill(POISON);
    host.at(output, indices).forEach((want, i) => {
      const got = seen[i]!;
      if (!isClose(got, want, { rtol: AGREEMENT, atol: AGREEMENT })) {
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
