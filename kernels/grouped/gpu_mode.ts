/**
 * The benchmark lists of the GPU MODE competition (`nvfp4_group_gemm`), and the speed of
 * light that it states for them.
 *
 * @module
 */

import { groupedMatmul } from "./op.ts";
import type { GroupedPoint } from "./point.ts";

/** The lists, in the competition's order, with the µs that it states on a B200. */
export const BENCH_LISTS = [
  {
    name: "A",
    m: [80, 176, 128, 72, 64, 248, 96, 160],
    n: 4096,
    k: 7168,
    sol_us: 18.833,
  },
  {
    name: "B",
    m: [40, 76, 168, 72, 164, 148, 196, 160],
    n: 7168,
    k: 2048,
    sol_us: 10.667,
  },
  { name: "C", m: [192, 320], n: 3072, k: 4096, sol_us: 2.406 },
  { name: "D", m: [128, 384], n: 4096, k: 1536, sol_us: 1.525 },
] as const;

/** Bytes and flops a second of a B200 at 1.5 GHz, as the competition counts them. */
const B200 = { bytes: 7.68e12, flops: 6.9e15 };

/**
 * The competition's speed of light in µs: the larger of the time to move all operands once
 * and of the time of the flops. On other devices a row's `sol_us` says the same from what was
 * measured there.
 */
export function b200SpeedOfLight(point: GroupedPoint): number {
  const { flops, bytes } = groupedMatmul.work(point);
  return 1e6 * Math.max(bytes / B200.bytes, flops / B200.flops);
}
