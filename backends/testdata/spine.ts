/**
 * A matmul suite on the fake device, and what running it gave.
 *
 * @module
 */

import { ConfigBook, type KnownConfigs } from "../../bench/tune/config_book.ts";
import { BinaryCache } from "../../bench/device/binary_cache.ts";
import { DEFAULTS, type Settings } from "../../bench/model/settings.ts";
import type { Below } from "../../bench/measure/changes.ts";
import { mix } from "../../bench/model/inputs.ts";
import { encode } from "../../bench/model/dtype.ts";
import { defineLaunch } from "../../bench/model/kernel.ts";
import type { Kernel } from "../../bench/model/kernel_spec.ts";
import type { Event } from "../../bench/worker/protocol.ts";
import { BenchContext } from "../../bench/measure/context.ts";
import type { Row } from "../../bench/row/row.ts";
import { run } from "../../bench/measure/case_run.ts";
import { defineSuite } from "../../bench/model/suite.ts";
import type { TimingCache } from "../../bench/tune/timing_cache.ts";
import { matmul, type MatmulPoint } from "../../kernels/matmul/mod.ts";
import { product, storedMatrix } from "../../kernels/common/product.ts";
import { fake, type FakeKernel, type FakeOptions } from "../fake/fake.ts";

const source = new URL("../fake/fake.ts", import.meta.url);
/** The bytes behind a memory argument. */
export const memoryOf = (arg: unknown) =>
  (arg as { memory: { host: Uint8Array<ArrayBuffer> } }).memory.host;
const numberOf = (arg: unknown) => (arg as { value: number }).value;

/** Numbers that a seed repeats. */
export function seeded(seed: number): Below {
  let state = seed;
  return (n) => {
    state = state + 1 | 0;
    return Math.floor(mix(state ^ mix(seed)) / 2 ** 32 * n);
  };
}

/** A right product on the arguments (A, B, C, M, N, K, lda, ldb, ldc), bf16, `nn`. */
export function multiply(args: readonly unknown[]): void {
  const [a, b, c] = args.slice(0, 3).map(memoryOf) as [
    Uint8Array<ArrayBuffer>,
    Uint8Array<ArrayBuffer>,
    Uint8Array<ArrayBuffer>,
  ];
  const [m, n, k, lda, ldb] = args.slice(3).map(numberOf) as [
    number,
    number,
    number,
    number,
    number,
  ];
  const sums = product(
    { m, n, k, layout: "nn" },
    storedMatrix(a, "bf16", lda),
    storedMatrix(b, "bf16", ldb),
  );
  c.set(encode(sums, "bf16"));
}

/** A kernel that is right, in 5 µs. */
export const right: FakeKernel = { ns: 5000, run: multiply };

/** A kernel of the fake device that launches `entry` with the op's own arguments. */
export function fakeLaunch(
  entry: string,
  tunables: Record<string, readonly (number | string)[]> = {},
): Kernel<MatmulPoint> {
  return defineLaunch(matmul, {
    name: entry,
    backend: "fake",
    source,
    entry,
    tunables,
    shape: () => ({ grid: [1, 1, 1], block: [32, 1, 1] }),
  });
}

/** A bf16 suite of one point, 4 × 4 × 32, with a kernel for each entry. */
export function suiteOf(
  entries: readonly string[],
  tunables: Record<string, readonly (number | string)[]> = {},
) {
  return defineSuite<MatmulPoint>({
    name: "spine",
    title: "Spine",
    op: matmul,
    axes: { m: [4], k: [32] },
    tie: { n: "m" },
    fixed: { type: "bf16", epilogue: "none" },
    kernels: entries.map((entry) => fakeLaunch(entry, tunables)),
    baselines: [entries[0]!],
  });
}

/** Options of a context on the fake device. */
type BenchContextOptions = Partial<FakeOptions> & {
  settings?: Partial<Settings>;
  machine?: string;
  kernels: FakeOptions["kernels"];
  timings?: TimingCache;
  /** The configs that are known already. */
  known?: KnownConfigs;
  /** Seeds what a guard chooses. @default {1} */
  chance?: number;
  /** Makes the kernel cache in a folder. @default {a usual one} */
  cacheIn?(folder: string): BinaryCache;
};

/** Runs `work` on a calibrated context. */
export async function withRig<T>(
  {
    settings = {},
    machine = "",
    timings,
    known,
    chance = 1,
    cacheIn = (folder) => new BinaryCache(folder),
    ...options
  }: BenchContextOptions,
  work: (context: BenchContext, events: readonly Event[]) => Promise<T>,
): Promise<T> {
  const dir = await Deno.makeTempDir();
  const backend = fake(options);
  const events: Event[] = [];
  using device = backend.open(backend.find().devices[0]!);
  using context = await BenchContext.open({
    backend,
    device,
    cache: cacheIn(dir),
    settings: {
      ...DEFAULTS,
      warmup: 0.1,
      rep: 0.5,
      cacheDir: dir,
      ...settings,
    },
    run: "run-1",
    harness: "0.0.0",
    machine,
    configs: new ConfigBook(known, timings),
    below: seeded(chance),
    date: () => "2026-01-01T00:00:00Z",
    emit: (event) => events.push(event),
  });
  context.calibrate(["bf16"]);
  try {
    return await work(context, events);
  } finally {
    await Deno.remove(dir, { recursive: true });
  }
}

/** Runs every case of `suite`: rows, samples and events in order. */
export function rowsOf(
  suite: ReturnType<typeof suiteOf>,
  options: BenchContextOptions,
) {
  return withRig(options, async (context, events) => {
    const rows: Row[] = [];
    const samples: (readonly number[] | undefined)[] = [];
    for (const c of suite.cases("all")) {
      const outcome = await run(c, context);
      rows.push(outcome.row);
      samples.push(outcome.samples);
    }
    return { rows, samples, events };
  });
}
