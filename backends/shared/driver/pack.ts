/**
 * Kernel parameters as the launch calls want them: an array of pointers to values.
 *
 * @module
 */

import type { Arg } from "../../../bench/device/queue.ts";
import { addressOf } from "../ffi.ts";

/** Parameters of one launch, where C can read them. */
export interface Packed {
  /** The values, each aligned as in C. */
  readonly values: ArrayBuffer;
  /** One pointer into `values` for each parameter. */
  readonly pointers: BigUint64Array<ArrayBuffer>;
  /** The address of `pointers`, valid while this object is reachable. */
  readonly address: bigint;
}

/**
 * Copies `args` to memory that does not move; call it once a step, not once a launch.
 *
 * @throws {RangeError} If an alignment is not a power of two.
 */
export function pack(args: readonly Arg[]): Packed {
  const layouts = args.map(layoutOf);
  const widest = Math.max(16, ...layouts.map(({ align }) => align));
  const room = layouts.reduce((sum, l) => sum + l.bytes + l.align, widest);
  const values = new ArrayBuffer(room);
  const view = new DataView(values);
  const base = addressOf(values);
  // Alignment is of the address, and the buffer itself may start anywhere.
  let at = Number((BigInt(widest) - base % BigInt(widest)) % BigInt(widest));
  const first = at;
  const pointers = new BigUint64Array(args.length);
  for (const [i, arg] of args.entries()) {
    const { bytes, align } = layouts[i]!;
    at = first + Math.ceil((at - first) / align) * align;
    write(view, at, arg);
    pointers[i] = base + BigInt(at);
    at += bytes;
  }
  return { values, pointers, address: addressOf(pointers.buffer) };
}

interface Layout {
  readonly bytes: number;
  readonly align: number;
}

function layoutOf(arg: Arg): Layout {
  switch (arg.kind) {
    case "i32":
    case "u32":
    case "f32":
      return { bytes: 4, align: 4 };
    case "i64":
    case "f64":
    case "memory":
      return { bytes: 8, align: 8 };
    case "bytes":
      if (!(arg.align > 0 && Number.isInteger(Math.log2(arg.align)))) {
        throw new RangeError(
          `Cannot align a kernel parameter to ${arg.align} bytes: not a power of two`,
        );
      }
      return { bytes: arg.bytes.byteLength, align: arg.align };
  }
}

function write(view: DataView<ArrayBuffer>, at: number, arg: Arg): void {
  switch (arg.kind) {
    case "memory":
      return view.setBigUint64(at, arg.memory.address, true);
    case "i32":
      return view.setInt32(at, arg.value, true);
    case "u32":
      return view.setUint32(at, arg.value, true);
    case "f32":
      return view.setFloat32(at, arg.value, true);
    case "f64":
      return view.setFloat64(at, arg.value, true);
    case "i64":
      return view.setBigInt64(at, BigInt(arg.value), true);
    case "bytes":
      new Uint8Array(view.buffer, at, arg.bytes.byteLength).set(arg.bytes);
  }
}
