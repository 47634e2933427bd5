import { deepStrictEqual, match, strictEqual } from "node:assert/strict";
import type { Device } from "../../bench/device/device.ts";
import { type Arg, i32, mem } from "../../bench/device/queue.ts";
import { BYTES } from "../../bench/model/dtype.ts";
import type { TensorShape } from "../../bench/device/tensor_shape.ts";
import { compileCuda } from "../testdata/cuda_lanes.ts";
import { cudaPath, cudaTest } from "../testdata/cuda_mocks.ts";
import { failure } from "../testdata/mock_device.ts";
import { type Asked, encoded } from "../testdata/tensor_maps.ts";

const COPY = `
SHARED_MEMORY(1024);
extern "C" __global__ void __launch_bounds__(64)
k(const __grid_constant__ TensorMap map, unsigned* out, int column, int row, int offset, int bytes) {
  unsigned to = shared_address(memory) + offset, bar = shared_address(memory) + 8192;
  if (threadIdx.x == 0) {
    barrier_open(bar, bytes);
    copy_tile(to, &map, column, row, bar);
  }
  __syncthreads();
  barrier_wait(bar, 0);
  for (int i = threadIdx.x; i < bytes / 4; i += 64) out[i] = ((unsigned*)(memory + offset))[i];
}`;

let compiled: Promise<string> | undefined;
const copying = () => compiled ??= compileCuda(COPY);

/** A byte of the matrix's memory: never zero. */
const byteAt = (at: number) => 1 + (at * 7 + (at >> 8) * 13) % 255;

/** Which of the chunks of 16 bytes of a 128-byte line a line's first one becomes. */
function turn(line: number, rowBytes: number): number {
  return rowBytes === 128
    ? line % 8
    : rowBytes === 64
    ? line % 4
    : rowBytes === 32
    ? line % 2
    : 0;
}

/** The box at `row` and `column`, `offset` bytes past a multiple of 1024 of shared memory. */
function expected(
  { type, rows, columns, ld, boxRows, boxColumns }: TensorShape,
  at: { readonly row: number; readonly column: number },
  offset: number,
): Uint8Array {
  const size = BYTES[type];
  const rowBytes = boxColumns * size;
  const box = new Uint8Array(boxRows * rowBytes);
  for (let i = 0; i < boxRows; i++) {
    for (let j = 0; j < rowBytes; j++) {
      const [row, column] = [at.row + i, at.column + Math.floor(j / size)];
      if (row < 0 || row >= rows || column < 0 || column >= columns) continue;
      const place = offset + i * rowBytes + j;
      const line = Math.floor(place / 128);
      const chunk = Math.floor(place / 16) % 8;
      const to = line * 128 + (chunk ^ turn(line, rowBytes)) * 16 + place % 16;
      box[to - offset] = byteAt((row * ld + column) * size + j % size);
    }
  }
  return box;
}

/** Boxes within the matrix, across each of its edges, and beyond them. */
function places({ rows, columns, boxRows, boxColumns }: TensorShape) {
  return [
    { row: 2, column: 3 },
    { row: -3, column: -2 },
    { row: rows - 1, column: columns - 1 },
    { row: -boxRows + 1, column: columns - 2 },
    { row: rows - 2, column: -boxColumns + 1 },
    { row: 0, column: columns },
    { row: 0, column: -boxColumns },
    { row: rows, column: 0 },
    { row: -boxRows, column: 0 },
    { row: -(2 ** 31), column: 2 ** 31 - 1 },
  ];
}

/** Copies the boxes of `tiles` by the map that `mapped` makes, and looks at every byte. */
async function look(
  device: Device,
  tiles: TensorShape,
  mapped: (memory: ReturnType<Device["alloc"]>) => Arg,
): Promise<void> {
  using module = device.load(await copying());
  const size = BYTES[tiles.type];
  const bytes = tiles.boxRows * tiles.boxColumns * size;
  using from = device.alloc(tiles.rows * tiles.ld * size);
  using to = device.alloc(bytes);
  from.upload(Uint8Array.from({ length: from.bytes }, (_, i) => byteAt(i)));
  const map = mapped(from);
  for (const place of places(tiles)) {
    for (const offset of [0, 128, 896]) {
      to.fill(0xcc);
      const numbers = [place.column, place.row, offset, bytes].map(i32);
      module.program("k").step([map, mem(to), ...numbers], {
        ...{ grid: [1, 1, 1], block: [64, 1, 1], sharedBytes: 8200 },
      }).enqueue();
      const name = JSON.stringify({ ...tiles, ...place, offset });
      deepStrictEqual(to.download(), expected(tiles, place, offset), name);
    }
  }
}

for (const type of ["u8", "bf16", "f32", "f64"] as const) {
  for (const rowBytes of [32, 64, 128]) {
    cudaTest(
      `copy_tile() swizzles boxes of ${rowBytes} bytes of ${type}, with zeros outside`,
      async (device) => {
        const columns = rowBytes / BYTES[type] + 6;
        const tiles = {
          ...{ type, rows: 21, columns, ld: Math.ceil(columns / 16) * 16 },
          ...{ boxRows: 17, boxColumns: rowBytes / BYTES[type] },
        };
        await look(device, tiles, (memory) => device.tensorMap!(memory, tiles));
      },
    );
  }
}

const UNSWIZZLED: Asked = { box: [20, 9], dims: [31, 12], strides: [128] };

cudaTest(
  "copy_tile() leaves boxes without a swizzle in their order",
  (device) =>
    look(device, {
      ...{ type: "f32", rows: 12, columns: 31, ld: 32 },
      ...{ boxRows: 9, boxColumns: 20 },
    }, ({ address }) => encoded(cudaPath(), { ...UNSWIZZLED, address })),
);

const UNLIKE: Readonly<Record<string, readonly [Asked, RegExp]>> = {
  "a matrix longer than its memory": [
    { dims: [32, 13] },
    /reads 80 bytes (at|across)/,
  ],
  "elements left out": [{ steps: [1, 2] }, /not of two dimensions, dense/],
  "rows shorter than their swizzle": [
    { swizzle: 3 },
    /boxes of 80 bytes a row in a swizzle of 128: that is not emulated/,
  ],
};
for (const [name, [asked, found]] of Object.entries(UNLIKE)) {
  cudaTest(`the emulator finds a map of ${name}`, async (device) => {
    using module = device.load(await copying());
    using from = device.alloc(12 * 128);
    using to = device.alloc(720);
    const { address } = from;
    const map = encoded(cudaPath(), { ...UNSWIZZLED, address, ...asked });
    module.program("k").step([map, mem(to), ...[0, 4, 0, 720].map(i32)], {
      ...{ grid: [1, 1, 1], block: [64, 1, 1], sharedBytes: 8200 },
    }).enqueue();
    match(failure(() => device.synchronize()).message, found);
  });
}

cudaTest(
  "a map is the launch's, whatever becomes of its bytes",
  async (device) => {
    using module = device.load(await copying());
    using from = device.alloc(4096);
    using to = device.alloc(1024);
    from.fill(7);
    const map = device.tensorMap!(from, {
      ...{ type: "u32", rows: 32, columns: 32, ld: 32 },
      ...{ boxRows: 8, boxColumns: 32 },
    });
    const args = [map, mem(to), ...[0, 0, 0, 1024].map(i32)];
    const step = module.program("k").step(args, {
      ...{ grid: [1, 1, 1], block: [64, 1, 1], sharedBytes: 8200 },
    });
    strictEqual(map.kind, "bytes");
    if (map.kind === "bytes") map.bytes.fill(0);
    step.enqueue();
    deepStrictEqual(to.download(), new Uint8Array(1024).fill(7));
  },
);
