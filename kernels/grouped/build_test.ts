import {
  deepStrictEqual,
  doesNotMatch,
  match,
  ok,
  strictEqual,
} from "node:assert/strict";
import type { Build, DeviceInfo } from "../../bench/device.ts";
import { cudaKernels } from "./cuda.ts";
import { groupedMatmul } from "./op.ts";
import { BENCH_LISTS } from "./seed.ts";

const ARCH = "sm_90a";
const device: DeviceInfo = {
  index: 0,
  name: "NVIDIA H200",
  arch: ARCH,
  units: 132,
  cacheBytes: 60 << 20,
  flushBytes: 256 << 20,
  sharedBytes: 227 << 10,
  driver: "580",
};

const POINTS = [
  ...groupedMatmul.oddities,
  ...BENCH_LISTS.map(({ m, n, k }) =>
    groupedMatmul.point({ m: m.join("+"), n, k })
  ),
];

const fileOf = ({ source }: Build) => source.pathname.split("/").at(-1)!;
const text = (build: Build) =>
  [
    fileOf(build),
    ...Object.entries(build.defines).map(([k, v]) => `${k}=${v}`),
  ].join(" ");

/** Every translation unit of every legal config, once. */
function distinct(): Build[] {
  const found = new Map<string, Build>();
  const kernels = [...cudaKernels, ...groupedMatmul.referees ?? []];
  for (const kernel of kernels.filter(({ backend }) => backend === "cuda")) {
    for (const point of POINTS) {
      if (kernel.unsupported(point, device) !== undefined) continue;
      for (const { config, illegal } of kernel.candidates(point, device)) {
        if (illegal !== undefined) continue;
        for (const b of kernel.builds(point, config)) found.set(text(b), b);
      }
    }
  }
  return [...found.values()];
}

/** One of each file, the most registers and the most sizes, with clusters and without. */
const CHOSEN = [
  "referee.cu",
  "tokens.cu",
  "per_group.cu",
  "persistent.cu",
  "ring.cu BM=64 BN=128 STAGES=4 CLUSTER=1",
  "ring.cu BM=128 BN=128 STAGES=4 CLUSTER=4",
  "best.cu MAXN=64 STEP=16 CLUSTER=1 WEIGHTS=8 STAGES=16",
  "best.cu MAXN=256 STEP=32 CLUSTER=2 WEIGHTS=8 STAGES=5",
];

Deno.test("builds() name every source file, and configs that are compiled here", () => {
  const files = [...Deno.readDirSync(new URL(".", import.meta.url))]
    .map(({ name }) => name).filter((name) => name.endsWith(".cu"));
  const all = distinct();
  deepStrictEqual([...new Set(all.map(fileOf))].sort(), files.sort());
  deepStrictEqual(CHOSEN.filter((b) => !all.map(text).includes(b)), []);
});

async function nvcc(args: readonly string[]) {
  try {
    const { success, stdout, stderr } = await new Deno.Command("nvcc", {
      args: [...args],
    }).output();
    const decoder = new TextDecoder();
    return { success, log: decoder.decode(stdout) + decoder.decode(stderr) };
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return undefined;
    throw error;
  }
}

const version = await nvcc(["--version"]);
const skipped = version ? "" : " (skipped: nvcc is not on PATH)";

Deno.test({
  name:
    `builds() compile for ${ARCH} without spilling or waiting for products${skipped}`,
  ignore: version === undefined,
  async fn() {
    const folder = await Deno.makeTempDir();
    try {
      const todo = distinct().filter((b) => CHOSEN.includes(text(b)));
      strictEqual(todo.length, CHOSEN.length);
      await Promise.all(todo.map(async (build, i) => {
        const result = await nvcc([
          "-cubin",
          "-O3",
          "-std=c++17",
          `-gencode=arch=compute_90a,code=${ARCH}`,
          "-Xptxas=-v",
          "-Werror=all-warnings",
          ...Object.entries(build.defines).map(([k, v]) => `-D${k}=${v}`),
          decodeURIComponent(build.source.pathname),
          `-o=${folder}/${i}.cubin`,
        ]);
        ok(result?.success, `${text(build)}\n${result?.log}`);
        match(result.log, /bytes spill stores/, text(build));
        // ptxas says so where it cannot keep wgmma asynchronous.
        doesNotMatch(result.log, /serialized/, text(build));
        const wasted = result.log.matchAll(/(\d+) bytes (?:stack|spill)/g);
        for (const [, bytes] of wasted) {
          strictEqual(bytes, "0", `${text(build)} spills\n${result.log}`);
        }
      }));
    } finally {
      await Deno.remove(folder, { recursive: true });
    }
  },
});
