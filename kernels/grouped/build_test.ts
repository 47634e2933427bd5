import { deepStrictEqual, doesNotMatch, strictEqual } from "node:assert/strict";
import type { Build, DeviceInfo } from "../../bench/device.ts";
import { cudaKernels } from "./cuda.ts";
import { groupedMatmul } from "./op.ts";
import { BENCH_LISTS } from "./seed.ts";
import {
  ARCH,
  compileWithoutSpills,
  skipped,
  withoutNvcc,
} from "../testdata/spills.ts";

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

Deno.test({
  name:
    `builds() compile for ${ARCH} without spilling or waiting for products${skipped}`,
  ignore: withoutNvcc,
  async fn() {
    const chosen = distinct().filter((b) => CHOSEN.includes(text(b)));
    strictEqual(chosen.length, CHOSEN.length);
    await compileWithoutSpills(chosen, (log, what) => {
      // ptxas says so where it cannot keep wgmma asynchronous.
      doesNotMatch(log, /serialized/, what);
      for (const [, bytes] of log.matchAll(/(\d+) bytes stack/g)) {
        strictEqual(bytes, "0", `${what} has a stack\n${log}`);
      }
    });
  },
});
