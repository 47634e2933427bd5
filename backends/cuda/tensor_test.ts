import { assertEquals, assertMatch, assertStrictEquals } from "@std/assert";
import type { Device, TensorShape } from "../../bench/device/device.ts";
import { type Arg, i32, mem } from "../../bench/device/queue.ts";
import { BYTES } from "../../bench/model/dtype.ts";
import {
  compileCuda,
  type Planted,
  plantedTests,
} from "../testdata/cuda_lanes.ts";
import { cudaPath, cudaTest } from "../testdata/cuda_mocks.ts";
import { type Asked, encoded, failure } from "../testdata/mock_device.ts";

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

/** Boxes within the matrix, across each of its edges, and beyond them. Rows start on 16 bytes. */
function places(
  { type, rows, columns, boxRows, boxColumns }: TensorShape,
) {
  const chunk = 16 / BYTES[type];
  const last = Math.ceil(columns / chunk - 1) * chunk;
  return [
    { row: 2, column: chunk },
    { row: -3, column: -chunk },
    { row: rows - 1, column: last },
    { row: -boxRows + 1, column: last },
    { row: rows - 2, column: -boxColumns + chunk },
    { row: 0, column: last + chunk },
    { row: 0, column: -boxColumns },
    { row: rows, column: 0 },
    { row: -boxRows, column: 0 },
    { row: -(2 ** 31), column: 2 ** 31 - chunk },
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
        grid: [1, 1, 1],
        block: [64, 1, 1],
        sharedBytes: 8200,
      }).enqueue();
      const name = JSON.stringify({ ...tiles, ...place, offset });
      assertEquals(to.download(), expected(tiles, place, offset), name);
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
          type,
          rows: 21,
          columns,
          ld: Math.ceil(columns / 16) * 16,
          boxRows: 17,
          boxColumns: rowBytes / BYTES[type],
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
      type: "f32",
      rows: 12,
      columns: 31,
      ld: 32,
      boxRows: 9,
      boxColumns: 20,
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
      grid: [1, 1, 1],
      block: [64, 1, 1],
      sharedBytes: 8200,
    }).enqueue();
    assertMatch(failure(() => device.synchronize()).message, found);
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
      type: "u32",
      rows: 32,
      columns: 32,
      ld: 32,
      boxRows: 8,
      boxColumns: 32,
    });
    const args = [map, mem(to), ...[0, 0, 0, 1024].map(i32)];
    const step = module.program("k").step(args, {
      grid: [1, 1, 1],
      block: [64, 1, 1],
      sharedBytes: 8200,
    });
    assertStrictEquals(map.kind, "bytes");
    if (map.kind === "bytes") map.bytes.fill(0);
    step.enqueue();
    assertEquals(to.download(), new Uint8Array(1024).fill(7));
  },
);

// 32 x 32 numbers in boxes of 8 rows.
const NUMBERS: TensorShape = {
  type: "u32",
  rows: 32,
  columns: 32,
  ld: 32,
  boxRows: 8,
  boxColumns: 32,
};

const BOX = `unsigned bar = m + 1024;
  if (t == 0) {
    barrier_open(bar, 1024);
    copy_tile(m, &map, 0, 28, bar);
  }
  __syncthreads();
  barrier_wait(bar, 0);
  out[t] = s[t] + s[t + 128];`;
const planted = (
  name: string,
  from: string,
  to: string,
  found: RegExp,
): Planted => ({ name, from, to, found, right: BOX, tensor: NUMBERS });

const PLANTED: readonly Planted[] = [
  planted(
    "a box goes to where none may start",
    "copy_tile(m,",
    "copy_tile(m + 64,",
    /to shared address \d+, which is no multiple of 128/,
  ),
  planted(
    "a box starts where none may",
    "&map, 0",
    "&map, 2",
    /starts 8 bytes into a row, which is no multiple of 16/,
  ),
  planted(
    "a box goes beyond the block's memory",
    "copy_tile(m,",
    "copy_tile(m + 1152,",
    /writes bytes 1152 to 2176 of the block's 2048 bytes/,
  ),
  planted(
    "a box tells a barrier that is none",
    "28, bar)",
    "28, bar + 8)",
    /was never made/,
  ),
  planted(
    "a box tells a barrier whose making was not fenced",
    "barrier_open(bar, 1024);",
    "barrier_init(bar, 1); barrier_expect(bar, 1024);",
    /without a fence after its making/,
  ),
  planted(
    "a box is read before the phase of its barrier is over",
    "barrier_wait(bar, 0);",
    "",
    /while a copy to it is under way|a race in/,
  ),
  planted(
    "a block ends before its box has come",
    "__syncthreads();\n  barrier_wait(bar, 0);\n  out[t] = s[t] + s[t + 128];",
    "",
    /ends while copies to its memory are|others may still use its memory/,
  ),
  planted(
    "the rows that a box has outside of the matrix are not expected",
    "barrier_open(bar, 1024)",
    "barrier_open(bar, 512)",
    /bytes more than were expected/,
  ),
  planted(
    "more is expected than a box has",
    "barrier_open(bar, 1024)",
    "barrier_open(bar, 1040)",
    /bytes are missing/,
  ),
  planted(
    "a box is copied by what is no map",
    "&map",
    "(const TensorMap*)in",
    /a copy by what is no tensor map/,
  ),
  planted(
    "a map is not where maps are",
    "&map",
    "(const TensorMap*)((const char*)&map + 16)",
    /at an address that is no multiple of 64/,
  ),
  planted(
    "a map is in the block's memory",
    "&map",
    "(const TensorMap*)memory",
    /a tensor map in the block's memory/,
  ),
  planted(
    "a box is read while others write to the matrix",
    "if (t == 0) {",
    "if (t == 40) ((unsigned*)in)[900] = 1;\n  if (t == 0) {",
    /a race in global memory at byte 3600/,
  ),
];

plantedTests(PLANTED);
