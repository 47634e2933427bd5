import { match, strictEqual } from "node:assert/strict";
import { mem } from "../../bench/device/queue.ts";
import { compileCuda } from "../testdata/cuda_lanes.ts";
import { cudaTest } from "../testdata/cuda_mocks.ts";
import { failure } from "../testdata/mock_device.ts";

const LAUNCHES = `
extern "C" __global__ void __launch_bounds__(32) first(unsigned* p) {
  launch_dependents();
  p[threadIdx.x] = threadIdx.x;
}
extern "C" __global__ void __launch_bounds__(32) second(unsigned* p) {
  if (WAITS) wait_for_prerequisites();
  p[32 + threadIdx.x] = p[threadIdx.x];
}`;

cudaTest(
  "the emulator finds that a launch does not wait for the one before",
  async (device) => {
    for (const waits of [1, 0]) {
      const binary = await compileCuda(LAUNCHES, { WAITS: waits });
      using module = device.load(binary);
      using memory = device.alloc(256);
      const one = { grid: [1, 1, 1], block: [32, 1, 1] } as const;
      const [first, second] = ["first", "second"].map((name, i) =>
        module.program(name).step([mem(memory)], { ...one, overlap: i === 1 })
      );
      first!.enqueue();
      second!.enqueue();
      if (waits) {
        device.synchronize();
        const words = new Uint32Array(memory.download().buffer);
        strictEqual(words[63], 31);
      } else {
        match(
          failure(() => device.synchronize()).message,
          /which the launch before wrote, without waiting for its end/,
        );
      }
    }
  },
);
