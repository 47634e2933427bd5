/**
 * Tensor maps: matrices as CUDA's driver describes them to the Tensor Memory Accelerator.
 *
 * @module
 */

import type {
  Device,
  TensorBox,
  TensorShape,
} from "../../../bench/device/device.ts";
import type { TensorType } from "../../../bench/device/tensor_shape.ts";
import type { Arg, Memory } from "../../../bench/device/queue.ts";
import { BYTES, type DType } from "../../../bench/model/dtype.ts";
import { CaseError } from "../../../bench/model/errors.ts";
import { addressOf, type Bytes } from "../ffi.ts";
import { explaining } from "./checked.ts";
import type { Session } from "./session.ts";

/** Bytes of a CUtensorMap, and what its address is a multiple of. */
const MAP = { bytes: 128, align: 64 } as const;

/** CUtensorMapDataType of cuda.h; a type that it does not have is copied by its bytes. */
const TYPE: Readonly<Record<TensorType, number>> = {
  u8: 0,
  e4m3: 0,
  e5m2: 0,
  e2m1x2: 0,
  e8m0: 0,
  u16: 1,
  u32: 2,
  i32: 3,
  u64: 4,
  i64: 5,
  f16: 6,
  f32: 7,
  f64: 8,
  bf16: 9,
  f32_ftz: 10,
  tf32: 11,
  tf32_ftz: 12,
  "16u4_align8": 13,
  "16u4_align16": 14,
  "16u6_align16": 15,
};

/** Bytes of an element of the types that no operand has. */
const SIZE: Readonly<Record<Exclude<TensorType, DType>, number>> = {
  u16: 2,
  u64: 8,
  i64: 8,
  f32_ftz: 4,
  tf32: 4,
  tf32_ftz: 4,
  "16u4_align8": 0.5,
  "16u4_align16": 0.5,
  "16u6_align16": 0.75,
};

/** CUtensorMapInterleave of cuda.h. */
const INTERLEAVE = { none: 0, 16: 1, 32: 2 } as const;
/** CUtensorMapSwizzle of cuda.h. */
const SWIZZLE = {
  none: 0,
  32: 1,
  64: 2,
  128: 3,
  "128_atom32": 4,
  "128_atom32_flip8": 5,
  "128_atom64": 6,
} as const;
/** CUtensorMapL2promotion of cuda.h. */
const PROMOTION = { none: 0, 64: 1, 128: 2, 256: 3 } as const;
/** CUtensorMapFloatOOBfill of cuda.h. */
const FILL = { zeros: 0, nan: 1 } as const;

/** Returns what a device has of tensor maps: nothing where the driver makes none. */
export function tensorMapsOf(session: Session): Pick<Device, "tensorMap"> {
  const { tensorMapEncode } = session.driver.call;
  if (tensorMapEncode === null) return {};
  return {
    tensorMap(memory, shape) {
      const { type, dims, strides, box, steps, ...how } = encodingOf(
        memory,
        shape,
      );
      const map = emptyMap();
      session.enter();
      explaining(() => doing(memory, shape), () =>
        tensorMapEncode(
          map,
          type,
          dims.length,
          memory.address,
          BigUint64Array.from(dims, BigInt),
          BigUint64Array.from(strides, BigInt),
          Uint32Array.from(box),
          Uint32Array.from(steps),
          how.interleave,
          how.swizzle,
          how.promotion,
          how.fill,
        ));
      return { kind: "bytes", bytes: map, align: MAP.align } satisfies Arg;
    },
  };
}

/** The parameters of `cuTensorMapEncodeTiled` but for the address, as numbers of cuda.h. */
export interface TensorEncoding {
  readonly type: number;
  readonly dims: readonly number[];
  readonly strides: readonly number[];
  readonly box: readonly number[];
  readonly steps: readonly number[];
  readonly interleave: number;
  readonly swizzle: number;
  readonly promotion: number;
  readonly fill: number;
}

/**
 * Returns how the driver is told of `shape` in `memory`.
 *
 * @throws {CaseError} `launch`, where it is no tensor, or beyond `memory`.
 */
export function encodingOf(
  memory: Memory,
  shape: TensorShape | TensorBox,
): TensorEncoding {
  const tensor = "dims" in shape ? shape : boxOf(memory, shape);
  demand(memory, tensor, shape);
  const { type, dims, strides, box, steps = dims.map(() => 1) } = tensor;
  const { interleave = "none", swizzle = "none" } = tensor;
  const { promotion = "none", fill = "zeros" } = tensor;
  return {
    type: TYPE[type],
    dims,
    strides,
    box,
    steps,
    interleave: INTERLEAVE[interleave],
    swizzle: SWIZZLE[swizzle],
    promotion: PROMOTION[promotion],
    fill: FILL[fill],
  };
}

/** Memory for a map, where the driver takes it. */
function emptyMap(): Bytes {
  const room = new ArrayBuffer(MAP.bytes + MAP.align);
  const past = Number(addressOf(room) % BigInt(MAP.align));
  return new Uint8Array(room, past ? MAP.align - past : 0, MAP.bytes);
}

/** Returns the tensor that a matrix is. @throws {CaseError} Where its box has no swizzle. */
function boxOf(memory: Memory, shape: TensorShape): TensorBox {
  const { type, rows, columns, ld, boxRows, boxColumns } = shape;
  const rowBytes = boxColumns * BYTES[type];
  if (rowBytes !== 32 && rowBytes !== 64 && rowBytes !== 128) {
    throw new CaseError(
      "launch",
      `${
        doing(memory, shape)
      }: a box's row has ${rowBytes} bytes: there are swizzles of 32, 64 and 128`,
    );
  }
  return {
    type,
    dims: [columns, rows],
    strides: [ld * BYTES[type]],
    box: [boxColumns, boxRows],
    swizzle: rowBytes,
    promotion: 256,
  };
}

/** Makes sure that a tensor is one. @throws {CaseError} Where it is not, or beyond `memory`. */
function demand(
  memory: Memory,
  { type, dims, strides, box, steps = dims }: TensorBox,
  shape: TensorShape | TensorBox,
): void {
  const refuse = (why: string) =>
    new CaseError("launch", `${doing(memory, shape)}: ${why}`);
  for (const count of [...dims, ...strides, ...box, ...steps]) {
    if (Number.isInteger(count) && count > 0 && count <= 2 ** 40) continue;
    throw refuse(`${count} is not a whole number from 1 to 2^40`);
  }
  const rank = dims.length;
  const lengths = [strides.length + 1, box.length, steps.length];
  if (rank === 0 || lengths.some((length) => length !== rank)) {
    throw refuse(
      `it has ${rank} dimensions, ${strides.length} strides, ${box.length} lengths of a box and ${steps.length} steps: give a stride of each dimension but the first, and of the others one each`,
    );
  }
  const size = type in SIZE
    ? SIZE[type as keyof typeof SIZE]
    : BYTES[type as DType];
  const bytes = dims.reduce(
    (sum, length, i) =>
      sum + (i === 0 ? length * size : (length - 1) * strides[i - 1]!),
    0,
  );
  if (bytes > memory.bytes) {
    throw refuse(`it takes ${bytes} bytes, and the memory has ${memory.bytes}`);
  }
}

function doing(memory: Memory, shape: TensorShape | TensorBox): string {
  const at = `0x${memory.address.toString(16)}`;
  if ("dims" in shape) {
    const { type, dims, box } = shape;
    return `Cannot map boxes of ${box.join("x")} of the ${type} tensor of ${
      dims.join("x")
    }, innermost first, at ${at}`;
  }
  const { type, rows, columns, ld, boxRows, boxColumns } = shape;
  return `Cannot map boxes of ${boxRows}x${boxColumns} of the ${type} matrix of ${rows}x${columns}, rows ${ld} apart, at ${at}`;
}
