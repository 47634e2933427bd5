import { deepStrictEqual, strictEqual } from "node:assert/strict";
import { blockedOffset } from "../../../../bench/formats/blocked_scales.ts";
import { test } from "./testdata/encoders.ts";

// PTX ISA, table "Shared memory descriptor layout": address at bit 0, leading dimension at 16,
// stride at 32, all in 16 bytes; 0b001 at 46; swizzle 2 (128 bytes) at 61.
test("operand_descriptor() is PTX's, by hand", (encoders) => {
  const of = encoders.test_operand_descriptor;
  // 1024 / 16 = 0x40; 1; 0b001 << 14 in the third quarter; 2 << 13 in the last.
  strictEqual(of(0, 0), 0x4000_4040_0001_0000n);
  strictEqual(of(0x400, 0), 0x4000_4040_0001_0040n);
  // A slab is 32 bytes on: two units.
  strictEqual(of(0x8400, 3), 0x4000_4040_0001_0846n);
  // The last stage of a full shared memory: 227 KB are 0x38c00.
  strictEqual(of(0x38000, 1), 0x4000_4040_0001_3802n);
});

test("operand_offset() swaps bits 4-6 by bits 7-9, by hand and for all", (encoders) => {
  const of = encoders.test_operand_offset;
  deepStrictEqual([of(0, 0), of(0, 7), of(1, 0), of(1, 1)], [0, 112, 144, 128]);
  deepStrictEqual([of(7, 0), of(7, 7), of(8, 3), of(13, 2)], [
    896 + 112,
    896,
    1024 + 48,
    1664 + 16 * 7,
  ]);
  const places = new Set<number>();
  for (let row = 0; row < 256; row++) {
    for (let chunk = 0; chunk < 8; chunk++) {
      const plain = row * 128 + chunk * 16;
      strictEqual(of(row, chunk), plain ^ ((plain >> 7 & 7) << 4));
      places.add(of(row, chunk));
    }
  }
  strictEqual(places.size, 256 * 8);
});

test("scale_descriptor() is PTX's without a swizzle, by hand", (encoders) => {
  const of = encoders.test_scale_descriptor;
  // 128 / 16 = 8.
  strictEqual(of(0), 0x0000_4008_0000_0000n);
  strictEqual(of(0x6200), 0x0000_4008_0000_0620n);
});

// PTX ISA, table "Instruction descriptor format for .kind::mxf4 and .kind::mxf4nvf4": E2M1 = 1 at
// 7 and at 10, N >> 3 at 17, UE4M3 = 0 at 23, M >> 7 at 27, ids 0 at 4 and 29, K = 64 is 0 at 31.
test("instruction_descriptor() is PTX's, by hand", (encoders) => {
  const of = encoders.test_instruction_descriptor;
  strictEqual(of(128, 128), 0x0820_0480); // 16 << 17 is 0x200000, 1 << 27 is 0x8000000
  strictEqual(of(128, 16), 0x0804_0480);
  strictEqual(of(128, 256), 0x0840_0480);
  strictEqual(of(128, 80), 0x0814_0480);
});

test("tensor_address() has the lane above the column", (encoders) => {
  strictEqual(encoders.test_tensor_address(0x100, 96, 48), 0x0060_0130);
});

// PTX ISA, "Block scaling", 4X: row r has its four scales in lane r % 32, column r / 32.
test("an atom of scales lands where products read it: 32x128b of the blocked layout", () => {
  for (let row = 0; row < 128; row++) {
    for (let block = 0; block < 4; block++) {
      const offset = blockedOffset(row, block, 4);
      // tcgen05.cp.32x128b: lane i has bytes 16 i and on, four to a column.
      deepStrictEqual([
        Math.floor(offset / 16),
        Math.floor(offset % 16 / 4),
        offset % 4,
      ], [row % 32, Math.floor(row / 32), block]);
    }
  }
});

test("token_scales_column() has the atoms of a slab side by side, tiles starting at 0 or 2", (encoders) => {
  const column = encoders.test_token_scales_column;
  // 256 sums; stage 1 starts 4 * 4 * (1 + 2) on, its tokens 16 after that.
  deepStrictEqual([column(256, 1, 0, 0), column(256, 1, 0, 1)], [320, 324]);
  strictEqual(column(256, 1, 3, 1), 320 + 3 * 8 + 4);
  deepStrictEqual([column(64, 0, 0, 0), column(64, 2, 1, 0)], [80, 148]);
  deepStrictEqual([0, 64, 128, 192, 320].map(encoders.test_token_shift), [
    ...[0, 2, 0, 2, 2],
  ]);
});
