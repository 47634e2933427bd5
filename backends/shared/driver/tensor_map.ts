/**
 * Tensor maps: matrices as CUDA's driver describes them to the Tensor Memory Accelerator.
 *
 * @module
 */

import type { Device, TensorShape } from "../../../bench/device/device.ts";
import type { Arg, Memory } from "../../../bench/device/queue.ts";
import { BYTES, type DType } from "../../../bench/model/dtype.ts";
import { CaseError } from "../../../bench/model/errors.ts";
import { addressOf, type Bytes } from "../ffi.ts";
import { explaining } from "./checked.ts";
import type { Session } from "./session.ts";

/** Bytes of a CUtensorMap, and what its address is a multiple of. */
const MAP = { bytes: 128, align: 64 } as const;

/** CUtensorMapDataType of cuda.h; a type that it does not have is copied by its bytes. */
const TYPE: Readonly<Record<DType, number>> = {
  u8: 0,
  e4m3: 0,
  e5m2: 0,
  e2m1x2: 0,
  e8m0: 0,
  u32: 2,
  i32: 3,
  f16: 6,
  f32: 7,
  f64: 8,
  bf16: 9,
};

/** CUtensorMapSwizzle of cuda.h, by the bytes of a box's row. */
const SWIZZLE: ReadonlyMap<number, number> = new Map([[32, 1], [64, 2], [
  128,
  3,
]]);

/** CU_TENSOR_MAP_INTERLEAVE_NONE, and zeros for what is outside, of cuda.h. */
const NONE = 0;
/** CU_TENSOR_MAP_L2_PROMOTION_L2_256B of cuda.h. */
const PROMOTION_256_BYTES = 3;

/** Returns what a device has of tensor maps: nothing where the driver makes none. */
export function tensorMapsOf(session: Session): Pick<Device, "tensorMap"> {
  const { tensorMapEncode } = session.driver.call;
  if (tensorMapEncode === null) return {};
  return {
    tensorMap(memory, shape) {
      const swizzle = demand(memory, shape);
      const { type, rows, columns, ld, boxRows, boxColumns } = shape;
      const map = emptyMap();
      session.enter();
      explaining(() => doing(memory, shape), () =>
        tensorMapEncode(
          map,
          TYPE[type],
          2,
          memory.address,
          BigUint64Array.of(BigInt(columns), BigInt(rows)),
          BigUint64Array.of(BigInt(ld * BYTES[type])),
          Uint32Array.of(boxColumns, boxRows),
          Uint32Array.of(1, 1),
          NONE,
          swizzle,
          PROMOTION_256_BYTES,
          NONE,
        ));
      return { kind: "bytes", bytes: map, align: MAP.align } satisfies Arg;
    },
  };
}

/** Memory for a map, where the driver takes it. */
function emptyMap(): Bytes {
  const room = new ArrayBuffer(MAP.bytes + MAP.align);
  const past = Number(addressOf(room) % BigInt(MAP.align));
  return new Uint8Array(room, past ? MAP.align - past : 0, MAP.bytes);
}

/** Returns the swizzle of `shape`. @throws {CaseError} Where it is none, or beyond `memory`. */
function demand(memory: Memory, shape: TensorShape): number {
  const refuse = (why: string) =>
    new CaseError("launch", `${doing(memory, shape)}: ${why}`);
  const { type, rows, columns, ld, boxRows, boxColumns } = shape;
  for (const count of [rows, columns, ld, boxRows, boxColumns]) {
    if (Number.isInteger(count) && count > 0 && count <= 2 ** 32) continue;
    throw refuse(`${count} is not a whole number from 1 to 2^32`);
  }
  const bytes = ((rows - 1) * ld + columns) * BYTES[type];
  if (bytes > memory.bytes) {
    throw refuse(`it takes ${bytes} bytes, and the memory has ${memory.bytes}`);
  }
  const rowBytes = boxColumns * BYTES[type];
  const swizzle = SWIZZLE.get(rowBytes);
  if (swizzle === undefined) {
    throw refuse(
      `a box's row has ${rowBytes} bytes: there are swizzles of 32, 64 and 128`,
    );
  }
  return swizzle;
}

function doing(memory: Memory, shape: TensorShape): string {
  const { type, rows, columns, ld, boxRows, boxColumns } = shape;
  const at = `0x${memory.address.toString(16)}`;
  return `Cannot map boxes of ${boxRows}x${boxColumns} of the ${type} matrix of ${rows}x${columns}, rows ${ld} apart, at ${at}`;
}
