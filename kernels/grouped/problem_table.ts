/**
 * The list of problems as kernels read it: pointers and sizes, 64 bytes each.
 *
 * @module
 */

import type { Memory } from "../../bench/device/queue.ts";
import type { Operands } from "../../bench/model/problem.ts";
import { type GroupedPoint, realProblems } from "./point.ts";

/** Bytes of a problem: `Problem` of problem.h. */
const PROBLEM_BYTES = 64;

/** A problem for each one that has rows: A, SFA, B, SFB, C as addresses, then m, n, k. */
export function problemTable(
  point: GroupedPoint,
  operands: Operands,
): Uint8Array<ArrayBuffer> {
  const problems = realProblems(point);
  const table = new DataView(new ArrayBuffer(problems.length * PROBLEM_BYTES));
  problems.forEach(({ m, n, k, group }, i) => {
    const at = i * PROBLEM_BYTES;
    ["A", "SFA", "B", "SFB", "C"].forEach((name, j) =>
      table.setBigUint64(at + 8 * j, operands[`${name}${group}`]!.address, true)
    );
    [m, n, k].forEach((x, j) => table.setInt32(at + 40 + 4 * j, x, true));
  });
  return new Uint8Array(table.buffer);
}

/** The table in memory of the device; waits. */
export function uploadedTable(
  { point, operands, alloc }: {
    point: GroupedPoint;
    operands: Operands;
    alloc(bytes: number): Memory;
  },
): Memory {
  const table = problemTable(point, operands);
  const memory = alloc(table.length);
  memory.upload(table);
  return memory;
}
