import { assertEquals, assertMatch, assertStrictEquals } from "@std/assert";
import { compileMetal, metalTest } from "../testdata/metal_mocks.ts";
import { failure } from "../testdata/mock_device.ts";
import type { Device } from "../../bench/device/device.ts";
import { i32, mem } from "../../bench/device/queue.ts";

const ONE = { grid: [1, 1, 1], block: [32, 1, 1] } as const;
const NONE = "KERNEL(64) void none(WHERE) {}";

metalTest(
  "synchronize() tells late what a kernel did wrong, and once",
  async (device) => {
    const text =
      `KERNEL(64) void out(device float* p [[buffer(0)]], WHERE) { p[tid + 1] = 1; }`;
    using module = device.load(await compileMetal(text));
    using memory = device.alloc(256);
    module.program("out").step([mem(memory)], {
      grid: [1, 1, 1],
      block: [64, 1, 1],
    }).enqueue();
    const error = failure(() => device.synchronize());
    assertStrictEquals(error.failure, "launch");
    assertMatch(
      error.message,
      /^waitUntilCompleted: MTLCommandBufferErrorPageFault \(3\): thread 63 of block 0 at k\.metal:2: writes 4 bytes at /,
    );
    device.synchronize();
  },
);

metalTest(
  "alloc(), load() and step() pass on injected faults",
  async (device, mock) => {
    mock.fault("newBufferWithLength:options:");
    const oom = failure(() => device.alloc(8));
    assertStrictEquals(oom.failure, "oom");
    assertMatch(
      oom.message,
      /^Cannot allocate 8 bytes of device memory: 0 of \d+/,
    );
    const binary = await compileMetal(NONE);
    mock.fault("newLibraryWithSource:options:error:");
    assertMatch(
      failure(() => device.load(binary)).message,
      /^Cannot load .*newLibraryWithSource: nil$/,
    );
    using module = device.load(binary);
    mock.fault("pipeline", 2);
    assertMatch(
      failure(() => module.program("none")).message,
      /^Cannot make a pipeline of none in .*: Encountered unlowered function/,
    );
    const step = module.program("none").step([], ONE);
    for (
      const [code, kind, name] of [
        [8, "oom", "OutOfMemory"],
        [2, "launch", "Timeout"],
        [11, "launch", "DeviceRemoved"],
      ] as const
    ) {
      mock.fault("commit", code);
      step.enqueue();
      const { failure: how, message } = failure(() => device.synchronize());
      assertStrictEquals(how, kind);
      assertMatch(
        message,
        new RegExp(`MTLCommandBufferError${name} \\(${code}\\)`),
      );
    }
    // A device that was lost stays so.
    step.enqueue();
    assertMatch(failure(() => device.synchronize()).message, /DeviceRemoved/);
    mock.reset();
    mock.fault("commandBuffer");
    assertMatch(failure(() => step.enqueue()).message, /^commandBuffer: nil$/);
  },
);

metalTest("step() refuses what Metal would not check", async (device) => {
  using module = device.load(await compileMetal(NONE));
  const program = module.program("none");
  const refused = (shape: object, args: Parameters<typeof program.step>[0]) =>
    failure(() => program.step(args, { ...ONE, ...shape })).message;
  assertMatch(
    refused({ block: [65, 1, 1] }, []),
    /block 65x1x1: 65 threads, of 64/,
  );
  assertMatch(
    refused({ sharedBytes: 32769 }, []),
    /32769 bytes .* there are 32768/,
  );
  assertMatch(refused({ grid: [0, 1, 1] }, []), /0 is no size/);
  assertMatch(refused({ cluster: 2 }, []), /no clusters/);
  assertMatch(refused({}, [{ kind: "f64", value: 1 }]), /no double precision/);
  const bytes = {
    kind: "bytes",
    align: 1,
    bytes: new Uint8Array(4097),
  } as const;
  assertMatch(refused({}, [bytes]), /more than 4096 bytes/);
  assertMatch(
    refused({}, Array.from({ length: 32 }, () => i32(1))),
    /32 arguments/,
  );
  assertMatch(
    failure(() => module.program("absent")).message,
    /^Cannot find the entry absent in /,
  );
});

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

metalTest("multiply_add_units() has MLX's lanes", async (device) => {
  const binary = await compileMetal(
    `KERNEL(32) void product(device const f16* a [[buffer(0)]], device const f16* b [[buffer(1)]],
                        device float* c [[buffer(2)]], WHERE) {
  f16 left[8], right[16];
  float sums[16];
  for (int i = 0; i < 8; i++) left[i] = a[tid * 8 + i];
  for (int i = 0; i < 16; i++) right[i] = b[tid * 16 + i], sums[i] = 1;
  multiply_add_units(sums, sums + 8, left, right);
  for (int i = 0; i < 16; i++) c[tid * 16 + i] = sums[i];
}`,
    { MATRIX_UNITS: 1 },
  );
  // Element i of a lane as nax.h's get_coord has it, of as many squares as \`per\` has.
  const packed = (per: number, value: (row: number, col: number) => number) =>
    Float16Array.from({ length: 32 * per }, (_, at) => {
      const [lane, i] = [Math.floor(at / per), at % per];
      const quad = lane >> 2;
      const row = (quad & 4 | lane >> 1 & 3) + (i % 8 >> 2) * 8;
      const col = (quad & 2 | lane & 1) * 4 + i % 4;
      return value(row + (i >> 3) * 16, col);
    });
  const a = (row: number, col: number) => (row * 5 + col * 3) % 7 - 3;
  const b = (row: number, col: number) => (row * 2 + col * 11) % 9 - 4;
  using stack = new DisposableStack();
  using module = device.load(binary);
  const put = (bytes: Uint8Array<ArrayBuffer>) => {
    const memory = stack.use(device.alloc(bytes.length));
    memory.upload(bytes);
    return memory;
  };
  const [left, right] = [packed(8, a), packed(16, b)].map(({ buffer }) =>
    put(new Uint8Array(buffer))
  );
  const to = put(new Uint8Array(4 * 512));
  module.program("product").step([mem(left!), mem(right!), mem(to)], {
    grid: [1, 1, 1],
    block: [32, 1, 1],
  }).enqueue();
  device.synchronize();
  // Of c and d, 16 x 32, the second half are columns from 16 on.
  const want = packed(16, (row, col) => {
    const [i, j] = [row % 16, col + (row < 16 ? 0 : 16)];
    let sum = 1;
    for (let k = 0; k < 16; k++) sum += a(i, k) * b(j, k);
    return sum;
  });
  assertEquals([...new Float32Array(to.download().buffer)], [...want]);
});

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
