import {
  assertAlmostEquals,
  assertEquals,
  assertStrictEquals,
} from "@std/assert";
import { fake, type FakeKernel } from "../../backends/fake/fake.ts";
import { BinaryCache } from "../device/binary_cache.ts";
import type { Blas, Gemm } from "../device/blas.ts";
import { i64 } from "../device/queue.ts";
import { Instruments } from "../device/instruments.ts";
import type { DType } from "../model/dtype.ts";
import { CaseError } from "../model/errors.ts";
import type { Timer } from "../model/settings.ts";
import { calibrate } from "./calibrate.ts";
import { Stopwatch } from "./time.ts";

/** Nanoseconds that a sample takes besides its work. */
const SAMPLE_NS = 3000;

const bytesOf = (args: Parameters<NonNullable<FakeKernel["run"]>>[0]) =>
  Number((args[1] as { value: number }).value);

/** Calibrates a fake device whose samples have an overhead and whose readers are `kernels`. */
async function calibrated(
  kernels: Readonly<Record<string, FakeKernel>>,
  { timer = "do_bench", types = [], memoryBytes, gemm }: {
    timer?: Timer;
    types?: readonly DType[];
    memoryBytes?: number;
    /** Nanoseconds of a GEMM of so many flops; nothing for no library. */
    gemm?: (flops: number) => number;
  } = {},
) {
  const dir = await Deno.makeTempDir();
  const backend = fake({
    kernels: {
      ...kernels,
      gemm: {
        ns: (_launch, _defines, args) =>
          gemm!(Number((args[0] as { value: number }).value)),
      },
    },
    ...(memoryBytes === undefined ? {} : { memoryBytes }),
  });
  using device = backend.open(backend.find().devices[0]!);
  using module = device.load(
    await new BinaryCache(dir).get(
      { source: backend.instruments, defines: {} },
      backend,
      "fake_1",
    ).then(({ path }) => path),
  );
  const interval = device.interval.bind(device);
  const step = ({ m, n, k }: Gemm, times: number) =>
    module.program("gemm").step([i64(2 * m * n * k * times)], {
      grid: [1, 1, 1],
      block: [32, 1, 1],
    });
  const blas: Pick<Blas, "gemm" | "fused"> = {
    gemm(gemm) {
      if (gemm.a.type === "bf16") return step(gemm, 1);
      throw new CaseError("unsupported", "only bf16");
    },
    // FP8 with scales and B as it is stored, at the double rate.
    fused(gemm) {
      const { a, b, c, scales } = gemm;
      if (a.type === "f16" || !b.transposed || (a.type === "e4m3" && !scales)) {
        throw new CaseError("unsupported", "not that");
      }
      assertEquals([c.type, scales?.a.bytes], ["bf16", scales && 4]);
      const choice = { name: "", workspaceBytes: 0 };
      return [{ ...choice, step: step(gemm, a.type === "e4m3" ? 0.5 : 1) }];
    },
  };
  Object.assign(device, gemm ? { blas } : {}, {
    interval() {
      const own = interval();
      return { ...own, nanoseconds: () => own.nanoseconds() + SAMPLE_NS };
    },
  });
  using instruments = await Instruments.open(device, {
    backend,
    cache: new BinaryCache(dir),
  });
  using stopwatch = new Stopwatch(device);
  const result = calibrate({
    device,
    api: "fake",
    stopwatch,
    instruments,
    timer,
    types,
    shared: false,
    flush: () => {},
    seed: 0,
    fill: "normal",
  });
  await Deno.remove(dir, { recursive: true });
  return result;
}

const reading: FakeKernel = { ns: (_launch, _defines, args) => bytesOf(args) };
const never: FakeKernel = { ns: 1e9 };

Deno.test("calibrate() measures launch overhead and load curve by the timer of the rows", async () => {
  const kernels = { load_only: reading, read_flush: never };
  const lone = await calibrated(kernels);
  const batch = await calibrated(kernels, { timer: "batch:4" });
  // An empty launch takes 2 µs.
  assertEquals([lone.launch_us, lone.graph_us, lone.call_us], [5, 5, 5]);
  assertEquals([batch.launch_us, batch.graph_us, batch.call_us], [5, 5, 2.75]);
  assertEquals([lone.timer, batch.timer], ["do_bench", "batch:4"]);
  const chain = await calibrated(kernels, { timer: "chain:4" });
  assertEquals([chain.call_us, chain.load], [batch.call_us, batch.load]);
  const many = await calibrated(kernels, { timer: "batch:9999" });
  assertEquals(many.call_us, 2 + 3 / 64);
  const [first] = lone.load;
  assertEquals(first, { bytes: 2048, us: 5.048 });
  assertEquals(batch.load[0], { bytes: 2048, us: 2.798 });
});

Deno.test("calibrate() takes the fastest reader at each size", async () => {
  const { load } = await calibrated({
    load_only: reading,
    // By as many blocks as the curve's third size is worth and no fewer.
    read_flush: {
      ns: (_launch, _defines, args, { grid: [blocks] }) =>
        4000 + bytesOf(args) / blocks,
    },
  });
  assertEquals(load.map(({ bytes }) => bytes), [
    2048,
    4096,
    8192,
    16384,
    32768,
    65536,
  ]);
  for (const { bytes, us } of load) {
    const blocks = Math.min(4 * 8, Math.ceil(bytes / 4096));
    const ns = SAMPLE_NS + Math.min(bytes, 4000 + bytes / blocks);
    assertAlmostEquals(us, ns / 1000, 1e-9, `${bytes}`);
  }
});

Deno.test("calibrate() bounds by the fastest sample, not by the middle one", async () => {
  const { load } = await calibrated({
    load_only: { ns: (launch) => launch % 8 ? 9000 : 5000 },
    read_flush: never,
  });
  assertEquals(load.map(({ us }) => us), load.map(() => 8));
});

Deno.test("calibrate() reads less where there is less memory", async () => {
  const { load } = await calibrated({ load_only: reading, read_flush: never }, {
    memoryBytes: 16384 + 4096 + 40_000,
  });
  assertStrictEquals(load.at(-1)!.bytes, 32768);
});

Deno.test("calibrate() takes the best of long GEMMs, net of the launch, of each type", async () => {
  const { peak } = await calibrated({ load_only: reading, read_flush: never }, {
    types: ["bf16", "f16", "e4m3"],
    // 2e11 flops a second up to 4e10 flops, half of it beyond: the power limit.
    gemm: (flops) => 2000 + flops / (flops < 4e10 ? 200 : 100),
  });
  assertEquals(Object.keys(peak), ["bf16", "e4m3"]);
  assertAlmostEquals(peak.bf16! / 2e11, 1, 1e-4);
  assertAlmostEquals(peak.e4m3! / 4e11, 1, 1e-4);
});
