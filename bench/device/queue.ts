/**
 * Memory, arguments and steps: what kernels are given and what a device's queue takes.
 *
 * @module
 */

import { CaseError } from "../model/errors.ts";

/** Device memory, or a part of it. */
export interface Memory extends Disposable {
  readonly bytes: number;
  /** The device address of its first byte. */
  readonly address: bigint;
  /** The bytes themselves, where the host can touch them. */
  readonly host?: Uint8Array<ArrayBuffer>;
  /** Copies `from` to the start; waits. */
  upload(from: Uint8Array<ArrayBuffer>): void;
  /** A copy of the bytes; waits. */
  download(): Uint8Array<ArrayBuffer>;
  /** Sets every byte, queued like a launch. */
  fill(byte: number): void;
  /** Copies all of `from`, of the same device, to the start, queued like a launch. */
  copyFrom(from: Memory): void;
  /** A part that shares the bytes; only the whole owns them. */
  slice(offset: number, bytes: number): Memory;
}

/** A C parameter of a kernel. */
export type Arg =
  | { readonly kind: "memory"; readonly memory: Memory }
  | { readonly kind: "i32" | "u32" | "f32" | "f64"; readonly value: number }
  | { readonly kind: "i64"; readonly value: number | bigint }
  | {
    readonly kind: "bytes";
    readonly bytes: Uint8Array<ArrayBuffer>;
    /** Bytes; 64 for a tensor map. */
    readonly align: number;
  }
  /** An `int`: 1 in a launch that may start before its predecessor ends, otherwise 0. */
  | { readonly kind: "early" };

/** The grid and block of a launch, and the memory of each block. */
export interface LaunchShape {
  readonly grid: readonly [number, number, number];
  readonly block: readonly [number, number, number];
  /** Bytes of dynamic shared memory. @default {0} */
  readonly sharedBytes?: number;
  /** Blocks per thread-block cluster. @default {1} */
  readonly cluster?: number;
  /** Starts before its predecessor ends (programmatic dependent launch). */
  readonly overlap?: boolean;
  /**
   * Waits for its predecessor by itself (`griddepcontrol.wait`) before it writes memory and before it
   * reads what a predecessor may write: all inputs but weights, their scales and biases. It may
   * therefore start early where a timer asks for it.
   */
  readonly waits?: boolean;
  /**
   * True if blocks wait for other blocks than those of their cluster: all of the grid is on the
   * device together (a cooperative launch), or the case is `unsupported`. Such a launch does not
   * start early.
   *
   * @default {false}
   */
  readonly cooperative?: boolean;
}

/** Something that a device's queue can be given, ready but for the giving. */
export interface Step {
  /** Its name in a trace or a listing. */
  readonly label: string;
  /** Whether a graph can hold it: no host work, no waiting. */
  readonly capturable: boolean;
  /** Queues it. */
  enqueue(): void;
  /** Queues it so that it starts before its predecessor ends. Missing where it cannot. */
  early?(): void;
}

/** Memory as an argument. */
export function mem(memory: Memory): Arg {
  return { kind: "memory", memory };
}

/** An `int` that says whether the launch may start before its predecessor ends. */
export const EARLY: Arg = { kind: "early" };

/**
 * A 32-bit signed integer as an argument.
 *
 * @throws {CaseError} `unsupported` for a number that 32 bits do not hold, as a kernel would get another
 * one, and `launch` for what is no whole number.
 */
export function i32(value: number): Arg {
  if ((value | 0) !== value) {
    const isLarge = Number.isInteger(value);
    throw new CaseError(
      isLarge ? "unsupported" : "launch",
      `${value} is no 32-bit integer, which the kernel takes: ${
        isLarge ? "choose smaller sizes" : "give i32() a whole number"
      }`,
    );
  }
  return { kind: "i32", value };
}

/** A 64-bit signed integer as an argument. */
export function i64(value: number | bigint): Arg {
  return { kind: "i64", value };
}

/** A 32-bit float as an argument. */
export function f32(value: number): Arg {
  return { kind: "f32", value };
}

/** A 32-bit unsigned integer as an argument. */
export function u32(value: number): Arg {
  return { kind: "u32", value };
}

/** A 64-bit float as an argument. */
export function f64(value: number): Arg {
  return { kind: "f64", value };
}

/** A `bool` as an argument: 32 bits, of which C reads the lowest 8. */
export function bool(value: boolean): Arg {
  return i32(Number(value));
}

/**
 * A struct by value as an argument; a C function for a CPU gets its address.
 *
 * @param align Bytes that its address is a multiple of. @default {8}
 */
export function bytes(value: Uint8Array<ArrayBuffer>, align = 8): Arg {
  return { kind: "bytes", bytes: value, align };
}
