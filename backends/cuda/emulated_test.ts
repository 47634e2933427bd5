import { match, rejects, strictEqual } from "node:assert/strict";
import { i32, mem } from "../../bench/device/queue.ts";
import { CaseError } from "../../bench/model/errors.ts";
import { compileCuda } from "../testdata/cuda_lanes.ts";
import { cudaControls, cudaTest } from "../testdata/cuda_mocks.ts";
import { failure } from "../testdata/mock_device.ts";

// One says nothing of its threads, one says more than that.
const WORDS = `
constexpr int MOST = 64;
extern "C" __global__ void ranks(unsigned* p, int) {
  if (threadIdx.x == 0) p[blockIdx.x] = cluster_rank();
}
extern "C" __global__ void __launch_bounds__(MOST / 2, 1)
both(unsigned* p, int n) {
  if (threadIdx.x == 0) p[blockIdx.x] = n;
}`;

cudaTest("the emulated NVRTC finds kernels of every form", async (device) => {
  using module = device.load(await compileCuda(WORDS));
  using memory = device.alloc(128);
  const words = () => [...new Uint32Array(memory.download().buffer)];
  const shape = { grid: [32, 1, 1], block: [32, 1, 1] } as const;
  module.program("both").step([mem(memory), i32(7)], shape).enqueue();
  device.synchronize();
  strictEqual(words().join(""), "7".repeat(32));
  // Clusters of more than eight are asked for by an attribute of the function.
  module.program("ranks").step([mem(memory), i32(0)], {
    ...shape,
    cluster: 16,
  }).enqueue();
  device.synchronize();
  strictEqual(words()[31], 15);
  module.program("both").step([mem(memory), i32(7)], {
    ...shape,
    block: [64, 1, 1],
  }).enqueue();
  match(
    failure(() => device.synchronize()).message,
    /CUDA_ERROR_LAUNCH_FAILED \(719\): unspecified launch failure: a block of 64 threads, of 32 at most$/,
  );
  // The context is gone, as a GPU's would be.
  match(failure(() => memory.download()).message, /\(719\)/);
});

cudaTest(
  "the emulated NVRTC says what it lacks of what a source uses",
  async () => {
    const body = (text: string) =>
      `extern "C" __global__ void k(float* p) { float s = 0; ${text}; *p = s; }`;
    const fma = `asm volatile("fma.rn.f32 %0, %0, %0, %0;" : "+f"(s))`;
    for (
      const [text, lack] of [
        [body(fma), "inline assembly"],
        [`#include <mma.h>\n${body("s++")}`, "mma\\.h"],
        [body("s += __activemask()"), "__activemask"],
      ] as const
    ) {
      await rejects(
        () => compileCuda(text),
        (error) => {
          const said = `error: .*; the emulator has no ${lack}, see emulator/`;
          match((error as CaseError).message, new RegExp(said));
          return true;
        },
      );
    }
  },
);

cudaTest("the emulated NVRTC says what does not compile", async () => {
  await rejects(
    () => compileCuda(`extern "C" __global__ void k() { nothing(); }`),
    (error) => {
      match((error as CaseError).message, /error: .*nothing/);
      return error instanceof CaseError && error.failure === "compile";
    },
  );
});

const FOLLOWS = `
extern "C" __global__ void __launch_bounds__(32) first(unsigned* p, int) { p[threadIdx.x] = 3; }
extern "C" __global__ void __launch_bounds__(32) second(unsigned* p, int n) {
  p[n + threadIdx.x] = p[threadIdx.x];
}`;

cudaTest(
  "a launch overlaps with no kernel before a fill or a wait",
  async (device) => {
    using module = device.load(await compileCuda(FOLLOWS));
    using memory = device.alloc(256);
    using other = device.alloc(16);
    const [first, second] = ["first", "second"].map((name) =>
      module.program(name).step([mem(memory), i32(32)], {
        grid: [1, 1, 1],
        block: [32, 1, 1],
        overlap: true,
      })
    );
    for (const between of [() => device.synchronize(), () => other.fill(1)]) {
      first!.enqueue();
      between();
      second!.enqueue();
      device.synchronize();
      strictEqual(new Uint32Array(memory.download().buffer)[63], 3);
    }
  },
);

cudaTest(
  "the emulated driver refuses what the device cannot launch",
  async (device) => {
    using module = device.load(await compileCuda(WORDS));
    using memory = device.alloc(128);
    const args = [mem(memory), i32(0)];
    const one = { grid: [1, 1, 1], block: [32, 1, 1] } as const;
    for (
      const shape of [
        { sharedBytes: (227 << 10) + 1 },
        { grid: [16, 65536, 1] },
        { grid: [12, 1, 1], cluster: 8 },
        { grid: [32, 1, 1], cluster: 32 },
        { block: [1, 1, 65] },
      ] as const
    ) {
      const program = module.program("ranks");
      match(
        failure(() => program.step(args, { ...one, ...shape }).enqueue())
          .message,
        /CUDA_ERROR_INVALID_VALUE/,
        JSON.stringify(shape),
      );
    }
  },
);

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
    const ways = [{ overlap: true }, { waits: true }] as const;
    /** Queues `work`, or replays it as a graph. */
    const queue = (graph: boolean, work: () => void) => {
      if (!graph) return work();
      using replay = device.capture!(work);
      replay.launch();
      device.synchronize();
    };
    for (
      const [waits, way, graph] of [1, 0].flatMap((w) =>
        ways.flatMap((y) => [false, true].map((g) => [w, y, g] as const))
      )
    ) {
      const binary = await compileCuda(LAUNCHES, { WAITS: waits });
      using module = device.load(binary);
      using memory = device.alloc(256);
      const one = { grid: [1, 1, 1], block: [32, 1, 1] } as const;
      const [first, second] = ["first", "second"].map((name, i) =>
        module.program(name).step([mem(memory)], {
          ...one,
          ...(i === 1 ? way : {}),
        })
      );
      const run = () => {
        queue(graph, () => {
          first!.enqueue();
          // A launch that is said to wait starts early where that is asked for.
          if (second!.early) second!.early();
          else second!.enqueue();
        });
        device.synchronize();
      };
      if (waits) {
        run();
        const words = new Uint32Array(memory.download().buffer);
        strictEqual(words[63], 31);
      } else {
        match(
          failure(run).message,
          /which the launch before wrote, without waiting for its end/,
        );
        cudaControls().reset();
      }
    }
  },
);
