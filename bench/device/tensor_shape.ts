/**
 * The shapes that tensor maps describe.
 *
 * @module
 */

import type { DType } from "../model/dtype.ts";

/**
 * A row-major matrix and one size of boxes, in elements. What a box has outside of the matrix
 * comes as zeros.
 */
export interface TensorShape {
  readonly type: DType;
  readonly rows: number;
  readonly columns: number;
  /** From a row to the next; their bytes must be a multiple of 16. */
  readonly ld: number;
  /** Rows of a box, 1 to 256. */
  readonly boxRows: number;
  /** Columns of a box, of 128, 64 or 32 bytes: the swizzle in shared memory is that of them. */
  readonly boxColumns: number;
}

/** Types of cuda.h that no operand has. */
export type TensorType =
  | DType
  | "u16"
  | "u64"
  | "i64"
  | "f32_ftz"
  | "tf32"
  | "tf32_ftz"
  | "16u4_align8"
  | "16u4_align16"
  | "16u6_align16";

/**
 * A tensor of 1 to 5 dimensions and one size of boxes, with every option of
 * `cuTensorMapEncodeTiled`, whose limits hold. Lists begin with the innermost dimension.
 */
export interface TensorBox {
  readonly type: TensorType;
  /** Elements of each dimension. */
  readonly dims: readonly number[];
  /** Bytes from an index to the next, of each dimension but the innermost. */
  readonly strides: readonly number[];
  /** Elements of a box in each dimension. */
  readonly box: readonly number[];
  /** Every how many elements of a dimension one is copied. @default {1 of each} */
  readonly steps?: readonly number[];
  /** Bytes of interleaved channels. @default {none} */
  readonly interleave?: 16 | 32;
  /**
   * Bytes of the swizzle in shared memory, and of its atoms where they are not 16.
   *
   * @default {none}
   */
  readonly swizzle?:
    | 32
    | 64
    | 128
    | "128_atom32"
    | "128_atom32_flip8"
    | "128_atom64";
  /** Bytes that a miss brings to L2. @default {those of a sector} */
  readonly promotion?: 64 | 128 | 256;
  /** What a box has outside of the tensor. @default {zeros} */
  readonly fill?: "nan";
}
