/**
 * Arguments of the C kernels of {@linkcode matmul}, numbered as in their headers.
 *
 * @module
 */

import { type Arg, i32, mem } from "../../../bench/device/queue.ts";
import type { Operands } from "../../../bench/model/problem.ts";
import { hasBias, hasRelu, type MatmulPoint } from "../point.ts";

/** The types of element.h. */
const TYPE = { f32: 0, f16: 1, bf16: 2 } as const;

/** `type`: the number of the operands' type. */
export function typeArg({ type }: MatmulPoint): Arg {
  return i32(TYPE[type]);
}

/** `bias`: where there is none, some memory that is not read. */
export function biasArg(operands: Operands): Arg {
  return mem(operands.bias ?? operands.C!);
}

/** `nt`: whether B is stored as [N,K]. */
export function layoutArg({ layout }: MatmulPoint): Arg {
  return i32(Number(layout === "nt"));
}

/** `has_bias, relu`. */
export function epilogueArgs(point: MatmulPoint): readonly Arg[] {
  return [i32(Number(hasBias(point))), i32(Number(hasRelu(point)))];
}
