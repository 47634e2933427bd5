/**
 * The matrix and the boxes that a tensor map describes.
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
