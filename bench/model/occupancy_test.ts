import { deepStrictEqual, strictEqual } from "node:assert/strict";
import { blocksPerUnit, wavesOf } from "./occupancy.ts";

/** M, N, TM, TN -> blocks, waves, efficiency in per cent on 132 multiprocessors. */
const H100: readonly (readonly number[])[] = [
  [1, 11008, 64, 256, 43, 1, 32.6],
  [1, 11008, 64, 128, 86, 1, 65.2],
  [1, 11008, 64, 64, 172, 2, 65.2],
  // 1376 = 10 · 132 + 56
  [4096, 11008, 256, 128, 1376, 11, 94.8],
  // 11008 = 83 · 132 + 52
  [4096, 11008, 64, 64, 11008, 84, 99.3],
];

Deno.test("wavesOf() counts rounds and their use", () => {
  for (const [m, n, tm, tn, blocks, waves, percent] of H100) {
    const grid = Math.ceil(m! / tm!) * Math.ceil(n! / tn!);
    strictEqual(grid, blocks);
    const found = wavesOf(grid, 132);
    deepStrictEqual(
      [found.waves, (100 * found.efficiency).toFixed(1)],
      [waves, percent!.toFixed(1)],
    );
  }
});

Deno.test("wavesOf() has a full tail where the blocks are a multiple of the places", () => {
  deepStrictEqual(wavesOf(264, 132), {
    waves: 2,
    fraction: 2,
    tail: 1,
    efficiency: 1,
  });
  deepStrictEqual(wavesOf(264, 132, 2), {
    waves: 1,
    fraction: 1,
    tail: 1,
    efficiency: 1,
  });
});

Deno.test("blocksPerUnit() is the least of four limits", () => {
  const info = { sharedBytes: 227 * 1024 };
  // 2048 / 128, then 32 blocks.
  strictEqual(blocksPerUnit({ threads: 128 }, info), 16);
  strictEqual(blocksPerUnit({ threads: 32 }, info), 32);
  // 228 KiB over 25 KiB.
  strictEqual(blocksPerUnit({ threads: 64, sharedBytes: 24 << 10 }, info), 9);
  strictEqual(blocksPerUnit({ threads: 64, sharedBytes: 227 << 10 }, info), 1);
  strictEqual(blocksPerUnit({ threads: 64, sharedBytes: 228 << 10 }, info), 0);
  // 128 · 255 registers, rounded up to 8192 a warp, of 65536: two blocks of four warps.
  strictEqual(blocksPerUnit({ threads: 128, registers: 255 }, info), 2);
  // 40 threads are two warps, of 12 that 5376 registers each let in.
  strictEqual(blocksPerUnit({ threads: 40, registers: 168 }, info), 6);
});

Deno.test("blocksPerUnit() asks for no shared memory where a device has none", () => {
  strictEqual(blocksPerUnit({ threads: 1024 }, { sharedBytes: 0 }), 2);
});
