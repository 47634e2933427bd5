import { assertEquals } from "@std/assert";
import { blockedBytes, blockedOffset, blockedPlace } from "./blocked_scales.ts";

Deno.test("blockedOffset() is what cuBLAS documents, tile by tile", () => {
  // offset = (r % 32) · 16 + (r / 32) · 4 + c within a tile of 512 bytes.
  const cases: [number, number, number, number][] = [
    [0, 0, 4, 0],
    [0, 3, 4, 3],
    [1, 0, 4, 16],
    [31, 0, 4, 496],
    [32, 0, 4, 4],
    [64, 0, 4, 8],
    [127, 3, 4, 511],
    // Tiles of a row of tiles follow each other, then come those of the next 128 rows.
    [0, 4, 8, 512],
    [128, 0, 8, 1024],
    [129, 5, 8, 1024 + 512 + 16 + 1],
    // A ragged row of tiles takes whole ones.
    [128, 0, 5, 1024],
  ];
  for (const [row, col, cols, offset] of cases) {
    assertEquals(
      blockedOffset(row, col, cols),
      offset,
      `${row}, ${col} of ${cols}`,
    );
  }
});

Deno.test("blockedOffset() is a bijection, and blockedPlace() its inverse", () => {
  for (const [rows, cols] of [[128, 4], [256, 12], [384, 8]] as const) {
    const seen = new Uint8Array(blockedBytes({ rows, cols }));
    assertEquals(seen.length, rows * cols);
    for (let row = 0; row < rows; row++) {
      for (let col = 0; col < cols; col++) {
        const offset = blockedOffset(row, col, cols);
        assertEquals(seen[offset]!++, 0);
        assertEquals(blockedPlace(offset, cols), { row, col });
      }
    }
  }
});

Deno.test("blockedOffset() is the permutation of torch's to_blocked", () => {
  // Pad; view (R/128, 128, C/4, 4); permute 0 2 1 3; view (-1, 4, 32, 4); swap 1 and 2.
  const [rows, cols] = [200, 10];
  const scales = Uint8Array.from(
    { length: rows * cols },
    (_, i) => i % 251 + 1,
  );
  const [high, wide] = [256, 12];
  const padded = new Uint8Array(high * wide);
  for (let r = 0; r < rows; r++) {
    padded.set(scales.subarray(r * cols, (r + 1) * cols), r * wide);
  }
  const want: number[] = [];
  for (let r0 = 0; r0 < high; r0 += 128) {
    for (let c0 = 0; c0 < wide; c0 += 4) {
      for (let r = 0; r < 32; r++) {
        for (let quarter = 0; quarter < 4; quarter++) {
          for (let c = 0; c < 4; c++) {
            want.push(padded[(r0 + 32 * quarter + r) * wide + c0 + c]!);
          }
        }
      }
    }
  }
  const blocked = new Uint8Array(blockedBytes({ rows, cols }));
  scales.forEach((scale, i) => {
    blocked[blockedOffset(Math.floor(i / cols), i % cols, cols)] = scale;
  });
  assertEquals([...blocked], want);
});
