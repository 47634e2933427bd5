import { assertStrictEquals } from "@std/assert";
import type { Device } from "../../bench/device/device.ts";
import { mem } from "../../bench/device/queue.ts";
import { compileMetal, metalTest } from "../testdata/metal_mocks.ts";

const SOURCE = `
KERNEL(32) void product(device const float2* a [[buffer(0)]], device const float2* b [[buffer(1)]],
                        device float2* c [[buffer(2)]], WHERE) {
  uint at = block.x * 32 + tid;
  float2 sum = {0, 0};
  multiply_add(sum, a[at], b[at]);
  c[at] = sum;
}`;

/**
 * The lane and the place of an element: lanes of four are a square of 4 x 4 of the eight by
 * eight, two lanes to a row of it, as MLX's `get_coord` has them, written out.
 */
const LANES: readonly (readonly number[])[] = [
  [0, 0, 1, 1, 8, 8, 9, 9],
  [2, 2, 3, 3, 10, 10, 11, 11],
  [4, 4, 5, 5, 12, 12, 13, 13],
  [6, 6, 7, 7, 14, 14, 15, 15],
  [16, 16, 17, 17, 24, 24, 25, 25],
  [18, 18, 19, 19, 26, 26, 27, 27],
  [20, 20, 21, 21, 28, 28, 29, 29],
  [22, 22, 23, 23, 30, 30, 31, 31],
];
const indexOf = (row: number, col: number) => 2 * LANES[row]![col]! + col % 2;

/** One square for each block, as lanes hold it. */
function squares(
  blocks: number,
  value: (block: number, row: number, col: number) => number,
): Uint8Array<ArrayBuffer> {
  const all = new Float32Array(blocks * 64);
  for (let block = 0; block < blocks; block++) {
    for (let row = 0; row < 8; row++) {
      for (let col = 0; col < 8; col++) {
        all[block * 64 + indexOf(row, col)] = value(block, row, col);
      }
    }
  }
  return new Uint8Array(all.buffer);
}

async function products(
  device: Device,
  a: Uint8Array<ArrayBuffer>,
  b: Uint8Array<ArrayBuffer>,
): Promise<(block: number, row: number, col: number) => number> {
  using module = device.load(await compileMetal(SOURCE));
  using stack = new DisposableStack();
  const [toA, toB] = [a, b].map((bytes) => {
    const memory = stack.use(device.alloc(bytes.length));
    memory.upload(bytes);
    return memory;
  });
  const to = stack.use(device.alloc(a.length));
  module.program("product").step([mem(toA!), mem(toB!), mem(to)], {
    grid: [a.length / 256, 1, 1],
    block: [32, 1, 1],
  }).enqueue();
  device.synchronize();
  const c = new Float32Array(to.download().buffer);
  return (block, row, col) => c[block * 64 + indexOf(row, col)]!;
}

metalTest(
  "multiply_add() has MLX's lanes, by one-hot matrices",
  async (device) => {
    const filled = (_: number, row: number, col: number) => row * 8 + col + 1;
    // Block r * 8 + c has its one at row r and column c.
    const hot = (block: number, row: number, col: number) =>
      Number(block === row * 8 + col);
    const [ones, numbers] = [squares(64, hot), squares(64, filled)];
    const left = await products(device, ones, numbers);
    const right = await products(device, numbers, ones);
    for (let block = 0; block < 64; block++) {
      const [r, c] = [Math.floor(block / 8), block % 8];
      for (let i = 0; i < 8; i++) {
        for (let j = 0; j < 8; j++) {
          // E(r, c) . B has row c of B as its row r; A . E(r, c) column r of A as column c.
          const ofB = i === r ? filled(0, c, j) : 0;
          const ofA = j === c ? filled(0, i, r) : 0;
          assertStrictEquals(
            left(block, i, j),
            ofB,
            `E . B, ${block}: ${i}, ${j}`,
          );
          assertStrictEquals(
            right(block, i, j),
            ofA,
            `A . E, ${block}: ${i}, ${j}`,
          );
        }
      }
    }
  },
);

metalTest(
  "lane_sum() and lane_xor() stay within a simdgroup",
  async (device) => {
    const binary = await compileMetal(`
KERNEL(64) void lanes(device float* p [[buffer(0)]], WHERE) {
  p[tid] = lane_sum(float(tid));
  p[64 + tid] = lane_xor(float(tid), 5);
}`);
    using module = device.load(binary);
    using memory = device.alloc(512);
    module.program("lanes").step([mem(memory)], {
      grid: [1, 1, 1],
      block: [64, 1, 1],
    }).enqueue();
    const got = new Float32Array(memory.download().buffer);
    for (let i = 0; i < 64; i++) {
      assertStrictEquals(got[i], i < 32 ? 496 : 1520);
      assertStrictEquals(got[64 + i], i ^ 5);
    }
  },
);
