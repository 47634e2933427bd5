/**
 * Arguments of the kernels of {@linkcode qmm} that decode weights, numbered as in formats.h.
 *
 * @module
 */

import { type Arg, i32, mem } from "../../bench/device/queue.ts";
import { MODES } from "../../bench/formats/quant_format.ts";
import type { Operands } from "../../bench/model/problem.ts";
import type { QmmPoint } from "./point.ts";

/** The types of kernels/matmul/cpu/element.h. */
const TYPE = { f16: 1, bf16: 2 } as const;

/** `w, scales, biases`: where there are no biases, some memory that is not read. */
export function weightMemory(operands: Operands): Arg[] {
  return [
    mem(operands.w!),
    mem(operands.scales!),
    mem(operands.biases ?? operands.scales!),
  ];
}

/** `mode, bits, group, type`. */
export function formatArgs({ mode, bits, group, type }: QmmPoint): Arg[] {
  return [MODES.indexOf(mode), bits, group, TYPE[type]].map(i32);
}
