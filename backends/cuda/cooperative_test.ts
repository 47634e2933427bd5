import { assertEquals, assertMatch, assertStrictEquals } from "@std/assert";
import { i32, mem } from "../../bench/device/queue.ts";
import { compileCuda, said } from "../testdata/cuda_lanes.ts";
import { cudaTest } from "../testdata/cuda_mocks.ts";

/** Each block tells all others its number, and adds what it is told. */
const ALL = `
extern "C" __global__ void k(const unsigned* in, float* out, int n) {
  if (threadIdx.x > 0) return;
  float mine[2] = {blockIdx.x + 1.0f, 1}, x[2], sum = 0;
  for (int b = 0; b < gridDim.x; b++)
    store_relaxed(out + 2 * (b * gridDim.x + blockIdx.x), mine);
  for (int b = 0; b < gridDim.x; b++) {
    do load_relaxed(x, out + 2 * (blockIdx.x * gridDim.x + b));
    while (x[0] == 0 || x[1] == 0);
    sum += x[0];
  }
  out[2 * gridDim.x * gridDim.x + blockIdx.x] = sum;
}`;

cudaTest(
  "blocks that wait for each other run where they are launched together",
  async (device, mock) => {
    const binary = await compileCuda(ALL);
    const how = { grid: 16, shared: 120 << 10 } as const;
    for (let seed = 1; seed <= 20; seed++) {
      mock.seed(seed);
      const text = said(device, binary, { ...how, cooperative: true });
      assertStrictEquals(text, "", `order ${seed}`);
    }
    assertMatch(said(device, binary, how), /block \d+ waits for ever/);
  },
);

cudaTest("more blocks than fit are refused, not run", async (device) => {
  const binary = await compileCuda(ALL);
  const how = { grid: 17, shared: 120 << 10, cooperative: true } as const;
  assertMatch(
    said(device, binary, how),
    /: its 17 blocks wait for other blocks, and 16 are on the device together$/,
  );
  // Two of each unit, with half of the memory.
  assertStrictEquals(said(device, binary, { ...how, shared: 60 << 10 }), "");
});

cudaTest("graphs launch blocks together too", async (device, mock) => {
  const binary = await compileCuda(ALL);
  using module = device.load(binary);
  using to = device.alloc(2112);
  const step = module.program("k").step([mem(to), mem(to), i32(1)], {
    grid: [16, 1, 1],
    block: [32, 1, 1],
    cooperative: true,
  });
  const clear = () => to.fill(0);
  using graph = device.capture!(() => {
    clear();
    step.enqueue();
    clear();
    step.enqueue();
  });
  for (const seed of [1, 2, 3]) {
    mock.seed(seed);
    graph.launch();
    device.synchronize();
    const sums = [...new Float32Array(to.download().buffer, 2048, 16)];
    assertEquals(sums, Array(16).fill(136));
  }
});
