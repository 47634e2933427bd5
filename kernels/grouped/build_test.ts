import { deepStrictEqual, doesNotMatch, strictEqual } from "node:assert/strict";
import { cudaKernels } from "./cuda.ts";
import { groupedMatmul } from "./op.ts";
import { BENCH_LISTS } from "./seed.ts";
import { distinctBuilds, fileOf, textOf } from "../testdata/cuda_builds.ts";
import {
  ARCH,
  compileWithoutSpills,
  skipped,
  withoutNvcc,
} from "../testdata/spills.ts";

const POINTS = [
  ...groupedMatmul.oddities,
  ...BENCH_LISTS.map(({ m, n, k }) =>
    groupedMatmul.point({ m: m.join("+"), n, k })
  ),
];

const distinct = () =>
  distinctBuilds([...cudaKernels, ...groupedMatmul.referees ?? []], POINTS);

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
  deepStrictEqual(CHOSEN.filter((b) => !all.map(textOf).includes(b)), []);
});

Deno.test({
  name:
    `builds() compile for ${ARCH} without spilling or waiting for products${skipped}`,
  ignore: withoutNvcc,
  async fn() {
    const chosen = distinct().filter((b) => CHOSEN.includes(textOf(b)));
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
