import { assertEquals, assertStrictEquals } from "@std/assert";
import type { Device } from "../../bench/device/device.ts";
import { mem } from "../../bench/device/queue.ts";
import { encode } from "../../bench/model/dtype.ts";
import { compileHip, hipTest } from "../testdata/hip_mocks.ts";

const SOURCE = `
#if HALF && K == 32
#define FRAGMENT u32x4
#elif HALF
#define FRAGMENT u32x2
#else
#define FRAGMENT float
#endif
KERNEL(64) void product(const FRAGMENT* a, const FRAGMENT* b, f32x4* c) {
  int at = block_x() * 64 + thread_x();
  f32x4 zero = {0, 0, 0, 0};
  c[at] = MFMA(a[at], b[at], zero);
}`;

/** A 16 x 16 x K product of a wave, as AMD's instruction set documents its lanes. */
interface Instruction {
  readonly name: string;
  readonly type: "bf16" | "f16" | "f32";
  readonly k: number;
}

const INSTRUCTIONS: readonly Instruction[] = [
  { name: "mfma_bf16", type: "bf16", k: 16 },
  { name: "mfma_f16", type: "f16", k: 16 },
  { name: "mfma_f32", type: "f32", k: 4 },
  { name: "mfma_bf16_k32", type: "bf16", k: 32 },
  { name: "mfma_f16_k32", type: "f16", k: 32 },
];

/** The bytes of one matrix for each block: 64 lanes, each `k / 4` values in a row of k. */
function fragments(
  { type, k }: Instruction,
  blocks: number,
  value: (block: number, of16: number, k: number) => number,
): Uint8Array<ArrayBuffer> {
  const each = k / 4;
  const values = Float64Array.from({ length: blocks * 64 * each }, (_, i) => {
    const lane = Math.floor(i / each) % 64;
    const block = Math.floor(i / each / 64);
    return value(block, lane % 16, Math.floor(lane / 16) * each + i % each);
  });
  return encode(values, type);
}

async function products(
  device: Device,
  instruction: Instruction,
  { a, b, blocks }: {
    a: Uint8Array<ArrayBuffer>;
    b: Uint8Array<ArrayBuffer>;
    blocks: number;
  },
): Promise<(block: number, row: number, col: number) => number> {
  const half = instruction.type === "f32" ? 0 : 1;
  const binary = await compileHip(SOURCE, {
    HALF: half,
    K: instruction.k,
    MFMA: instruction.name,
  });
  using module = device.load(binary);
  using stack = new DisposableStack();
  const [toA, toB] = [a, b].map((bytes) => {
    const memory = stack.use(device.alloc(bytes.length));
    memory.upload(bytes);
    return memory;
  });
  const to = stack.use(device.alloc(blocks * 1024));
  module.program("product").step([mem(toA!), mem(toB!), mem(to)], {
    grid: [blocks, 1, 1],
    block: [64, 1, 1],
  }).enqueue();
  device.synchronize();
  const c = new Float32Array(to.download().buffer);
  // Lane l has column l % 16 of the rows from l / 16 * 4 on.
  return (block, row, col) =>
    c[block * 256 + (Math.floor(row / 4) * 16 + col) * 4 + row % 4]!;
}

for (const instruction of INSTRUCTIONS) {
  const { name, k } = instruction;
  hipTest(
    `${name}() has the documented lanes, by one-hot matrices`,
    async (device) => {
      const blocks = 16 * k;
      const row = (block: number) => Math.floor(block / k);
      const depth = (block: number) => block % k;
      // Whole numbers up to 256, which every type has; of 32 rows the upper ones are negative.
      const filled = (_: number, of16: number, at: number) =>
        (at < 16 ? 1 : -1) * (at % 16 * 16 + of16 + 1);
      const hot = (block: number, of16: number, at: number) =>
        of16 === row(block) && at === depth(block) ? 1 : 0;
      for (const ofA of [true, false]) {
        const c = await products(device, instruction, {
          blocks,
          a: fragments(instruction, blocks, ofA ? hot : filled),
          b: fragments(instruction, blocks, ofA ? filled : hot),
        });
        for (let block = 0; block < blocks; block++) {
          for (let i = 0; i < 16; i++) {
            for (let j = 0; j < 16; j++) {
              const [one, other] = ofA ? [i, j] : [j, i];
              const expected = one === row(block)
                ? filled(block, other, depth(block))
                : 0;
              assertStrictEquals(
                c(block, i, j),
                expected,
                `${block}: ${i}, ${j}`,
              );
            }
          }
        }
      }
    },
  );
}

hipTest("lane_xor() exchanges lanes of the wave alone", async (device) => {
  const binary = await compileHip(`
KERNEL(128) void exchange(unsigned* p) {
  p[thread_x()] = lane_xor(thread_x() * 3, 5);
}`);
  using module = device.load(binary);
  using memory = device.alloc(512);
  module.program("exchange").step([mem(memory)], {
    grid: [1, 1, 1],
    block: [128, 1, 1],
  }).enqueue();
  assertEquals(
    [...new Uint32Array(memory.download().buffer)],
    Array.from({ length: 128 }, (_, i) => (i ^ 5) * 3),
  );
});

hipTest(
  "agent_add_2bf16() and agent_add_2f16() add each half and round",
  async (device) => {
    const binary = await compileHip(`
KERNEL(64) void add(unsigned* p, float* f) {
  agent_add_2bf16(p, 0x3f803f80);   // 1, 1
  agent_add_2f16(p + 1, 0x3c003c00);
  agent_add_f32(f, 0.5f);
}`);
    using module = device.load(binary);
    using memory = device.alloc(12);
    memory.upload(
      new Uint8Array(new Uint32Array([0x43804000, 0x68003c00, 0]).buffer),
    );
    module.program("add").step([mem(memory), mem(memory.slice(8, 4))], {
      grid: [2, 1, 1],
      block: [64, 1, 1],
    }).enqueue();
    const bytes = memory.download();
    const [bf, f16] = new Uint32Array(bytes.buffer);
    // 2 + 128; 256 + 1 rounds to 256 in bf16. In f16 1 + 128, and 2048 + 1 rounds to 2048.
    assertEquals([bf! & 0xffff, bf! >>> 16], [0x4302, 0x4380]);
    assertEquals([f16! & 0xffff, f16! >>> 16], [0x5808, 0x6800]);
    assertStrictEquals(new Float32Array(bytes.buffer)[2], 64);
  },
);

for (
  const [name, type, bytes] of [
    ["copy_async", "unsigned", 4],
    ["copy_async_16", "u32x4", 16],
  ] as const
) {
  hipTest(
    `${name}() puts ${bytes} bytes of each lane behind those of the lane before`,
    async (device) => {
      // Lanes read in the opposite order; what each wave says is that of its first lane alone.
      const binary = await compileHip(`
KERNEL(128) void copy(const ${type}* from, ${type}* to) {
  int lane = thread_x() % 64, first = thread_x() - lane;
  ${type}* lds = (${type}*)LDS;
  ${name}(lds + first + (lane ? 1 : 0), from + 127 - thread_x());
  wait_copies<0>();
  barrier();
  to[thread_x()] = lds[thread_x()];
}`);
      using module = device.load(binary);
      using from = device.alloc(128 * bytes);
      using to = device.alloc(128 * bytes);
      const words = Uint32Array.from({ length: 32 * bytes }, (_, i) => i);
      from.upload(new Uint8Array(words.buffer));
      module.program("copy").step([mem(from), mem(to)], {
        grid: [1, 1, 1],
        block: [128, 1, 1],
        sharedBytes: 128 * bytes,
      }).enqueue();
      device.synchronize();
      const each = bytes / 4;
      assertEquals(
        [...new Uint32Array(to.download().buffer)],
        [...words].map((_, i) =>
          (127 - Math.floor(i / each)) * each + i % each
        ),
      );
    },
  );
}
