import { assert, assertMatch, assertStrictEquals } from "@std/assert";
import { CallError } from "../../../../backends/shared/driver/checked.ts";
import { compileCuda } from "../../../../backends/testdata/cuda_lanes.ts";
import { cudaTest } from "../../../../backends/testdata/cuda_mocks.ts";
import type { Device } from "../../../../bench/device/device.ts";
import { i32, mem, type Step } from "../../../../bench/device/queue.ts";
import { compare } from "../../../../bench/measure/assert_close.ts";
import { madeOf } from "../../../testdata/answers.ts";
import { binaryOf } from "../../../testdata/emulated.ts";
import { matmul } from "../../op.ts";
import { exchangeK } from "./cluster.ts";

const point = matmul.point({ m: 14, n: 16, k: 1024, epilogue: "relu" });
/** Sixteen blocks that wait for one another, of as many units of the emulator. */
const config = {
  LOAD: "warps",
  BM: 16,
  BN: 16,
  BK: 64,
  WARPS: 4,
  KWARPS: 4,
  STAGES: 1,
  CLUSTER: 1,
  PARTS: 16,
};
/** Shared memory of a block of which a unit holds one. */
const ALONE = 200 << 10;
const [build] = exchangeK.builds(point, config);

/** A product of its own on `device`, with a mailbox of its own. */
async function product(
  device: Device,
  { stack, seed, ...changed }: {
    readonly stack: DisposableStack;
    readonly seed: number;
    readonly sharedBytes?: number;
    readonly cooperative?: boolean;
  },
) {
  const module = stack.use(device.load(await binaryOf(build!, "cuda")));
  const { inputs: [a, b], right: [right] } = madeOf(matmul, point, {
    seed,
    fill: "normal",
  });
  const alloc = (bytes: number) => {
    const memory = stack.use(device.alloc(bytes));
    memory.fill(0xff);
    return memory;
  };
  const [A, B] = [a!, b!].map((input) => {
    const memory = alloc(input.length);
    memory.upload(input);
    return memory;
  });
  const C = alloc(2 * point.m * point.ldc);
  const operand = matmul.operands(point).find(({ role }) => role === "out")!;
  const { steps: [step] } = exchangeK.prepare({
    point,
    config,
    device,
    alloc,
    operands: { A: A!, B: B!, C },
    program: (_, entry) => ({
      step: (args, shape) =>
        module.program(entry).step(args, { ...shape, ...changed }),
    }),
  });
  return {
    step: step!,
    /** What is wrong with C; nothing where it is right. */
    fault() {
      const bytes = C.download();
      C.fill(0xff);
      const tolerance = matmul.tolerance(point);
      return compare({ operand, bytes, right: right! }, tolerance).wrong ?? "";
    },
  };
}

/** What the device says of `steps` that run at the same time; nothing where they end. */
function together(
  device: Device,
  mock: { together(launches: number): void },
  steps: readonly Step[],
): string {
  mock.together(steps.length);
  try {
    for (const step of steps) step.enqueue();
    device.synchronize();
    return "";
  } catch (error) {
    if (!(error instanceof CallError)) throw error;
    return error.message;
  }
}

/** Said of blocks that wait for others, which wait for a place. */
const HANGS = /waits for ever|wait for each other/;
const SEEDS = Array.from({ length: 3 }, (_, i) => i + 1);

cudaTest(
  "two exchange-k on two streams end in every order",
  async (device, mock) => {
    using stack = new DisposableStack();
    const of = (seed: number) =>
      product(device, { stack, seed, sharedBytes: ALONE });
    const both = [await of(1), await of(2)];
    assert(both.every(({ step }) => step.early === undefined));
    for (const seed of SEEDS) {
      mock.seed(seed);
      // Twice: what a launch leaves behind is the next one's.
      for (let i = 0; i < 2; i++) {
        const steps = both.map(({ step }) => step);
        assertStrictEquals(together(device, mock, steps), "", `order ${seed}`);
        for (const one of both) assertStrictEquals(one.fault(), "");
      }
    }
  },
);

/** Blocks that do not end at once. */
const FILLER = `
extern "C" __global__ void fill(unsigned* out, int n) {
  for (int i = 0; i < n; i++) {
    __syncthreads();
    out[blockIdx.x * blockDim.x + threadIdx.x] = i;
  }
}`;

cudaTest(
  "two exchange-k end beside a kernel that fills the device, if launched cooperatively",
  async (device, mock) => {
    using stack = new DisposableStack();
    const filler = stack.use(device.load(await compileCuda(FILLER)));
    const room = stack.use(device.alloc(40 * 64 * 4));
    const fill = filler.program("fill").step([mem(room), i32(10)], {
      grid: [40, 1, 1],
      block: [64, 1, 1],
      sharedBytes: ALONE,
    });
    const both = [
      await product(device, { stack, seed: 1, sharedBytes: ALONE }),
      await product(device, { stack, seed: 2 }),
    ];
    for (const seed of SEEDS) {
      mock.seed(seed);
      const steps = [fill, ...both.map(({ step }) => step)];
      assertStrictEquals(together(device, mock, steps), "", `order ${seed}`);
      for (const one of both) assertStrictEquals(one.fault(), "");
    }
    // Not so where one is launched as other kernels are, or both: in some order.
    const plain = (seed: number) =>
      product(device, { stack, seed, sharedBytes: ALONE, cooperative: false });
    const [first, second] = [await plain(1), await plain(2)];
    for (const { step } of [second!, both[0]!]) {
      const orders = SEEDS.map((seed) => {
        mock.seed(seed);
        const said = together(device, mock, [fill, first!.step, step]);
        mock.reset();
        return said;
      });
      assertMatch(orders.join(), HANGS);
    }
  },
);

cudaTest(
  "exchange-k in two graphs at once needs a mailbox for each",
  async (device, mock) => {
    using stack = new DisposableStack();
    const graphOf = (step: Step) => {
      const graph = stack.use(device.capture!(step.enqueue));
      return { label: "graph", capturable: false, enqueue: graph.launch };
    };
    const [one, two] = [
      await product(device, { stack, seed: 1 }),
      await product(device, { stack, seed: 2 }),
    ];
    for (const seed of SEEDS) {
      mock.seed(seed);
      const graphs = [one!, two!].map(({ step }) => graphOf(step));
      assertStrictEquals(together(device, mock, graphs), "", `order ${seed}`);
      for (const { fault } of [one!, two!]) assertStrictEquals(fault(), "");
    }
    // One product twice has one mailbox: there is room for both launches.
    mock.seed(1);
    const twice = [graphOf(one!.step), graphOf(one!.step)];
    assertMatch(together(device, mock, twice), /race|waits for|wait for/);
  },
);

cudaTest(
  "an aborted exchange-k leaves no device behind, and the next one a right mailbox",
  async (device, mock) => {
    using stack = new DisposableStack();
    const aborted = await product(device, {
      stack,
      seed: 1,
      cooperative: false,
    });
    mock.seed(1);
    assertMatch(together(device, mock, [aborted.step]), HANGS);
    // As after any fault of a launch, whose worker ends: its memory is gone.
    try {
      device.alloc(16);
      assert(false, "a ruined device gives memory");
    } catch (error) {
      assert(error instanceof CallError, `${error}`);
    }
    mock.reset();
    const next = await product(device, { stack, seed: 2 });
    assertStrictEquals(together(device, mock, [next.step]), "");
    assertStrictEquals(next.fault(), "");
  },
);
