import { deepStrictEqual, ok, strictEqual } from "node:assert/strict";
import { cudaKernels } from "./cuda.ts";
import { groupedMatmul } from "../op.ts";
import { BENCH_LISTS } from "../gpu_mode.ts";
import { distinctBuilds, textOf } from "../../testdata/cuda_builds.ts";
import {
  ARCH,
  compileWithoutSpills,
  ptxOf,
  skipped,
  withoutNvcc,
} from "../../testdata/spills.ts";

const POINTS = [
  ...groupedMatmul.edgeCases,
  ...BENCH_LISTS.map(({ m, n, k }) =>
    groupedMatmul.point({ m: m.join("+"), n, k })
  ),
  groupedMatmul.point({ m: "80+40", n: 4096, k: 512, layout: "nt-mmajor" }),
];

const distinct = () =>
  distinctBuilds(
    [...cudaKernels, ...groupedMatmul.referenceKernels ?? []],
    POINTS,
  );

/** One of each file, the most registers and the most sizes, with clusters and without. */
const CHOSEN = [
  "reference.cu",
  "tokens.cu",
  "per_group.cu",
  "persistent.cu",
  "ring.cu BM=64 BN=128 STAGES=4 CLUSTER=1",
  "ring.cu BM=128 BN=128 STAGES=4 CLUSTER=4",
  "best.cu MAXN=128 STEP=16 KGROUPS=1 CLUSTER=1 WEIGHTS=8 SPAN=4 PIECES=0 LEAST=48 STAGES=8 MMAJOR=0",
  "best.cu MAXN=128 STEP=8 KGROUPS=1 CLUSTER=2 WEIGHTS=8 SPAN=2 PIECES=1 LEAST=48 STAGES=8 MMAJOR=0",
  "best.cu MAXN=128 STEP=16 KGROUPS=2 CLUSTER=1 WEIGHTS=8 SPAN=2 PIECES=1 LEAST=48 STAGES=6 MMAJOR=0",
  "best.cu MAXN=128 STEP=8 KGROUPS=2 CLUSTER=4 WEIGHTS=8 SPAN=4 PIECES=1 LEAST=48 STAGES=6 MMAJOR=0",
  "best.cu MAXN=128 STEP=8 KGROUPS=2 CLUSTER=1 WEIGHTS=8 SPAN=4 PIECES=1 LEAST=48 STAGES=6 MMAJOR=1",
];

Deno.test("CHOSEN are builds()", () => {
  const all = distinct().map(textOf);
  deepStrictEqual(CHOSEN.filter((build) => !all.includes(build)), []);
});

Deno.test({
  name:
    `builds() compile for ${ARCH} without spilling or waiting for products${skipped}`,
  ignore: withoutNvcc,
  async fn() {
    const chosen = distinct().filter((b) => CHOSEN.includes(textOf(b)));
    strictEqual(chosen.length, CHOSEN.length);
    await compileWithoutSpills(chosen);
  },
});

// C++17 says in which order a call's object and its operands are evaluated, and g++, which
// compiles for the emulator, does so; nvcc 13.0 does not.
Deno.test({
  name: `best reads scales only after it has waited for their stage${skipped}`,
  ignore: withoutNvcc,
  async fn() {
    const chosen = distinct().filter((b) =>
      b.source.pathname.endsWith("/best.cu") && CHOSEN.includes(textOf(b))
    );
    const [wait, read] = ["mbarrier.try_wait", "ld.shared.u8"];
    for (const build of [chosen[0]!, chosen.at(-1)!]) {
      const ptx = await ptxOf(build);
      const steps = ptx.match(
        /mbarrier\.try_wait|ld\.shared\.u8|cp\.async\.wait_group|wgmma\.(commit|wait)_group/g,
      ) ?? [];
      const before = ["", ...steps].filter((step, i) =>
        step !== read && steps[i] === read
      );
      // The first slab and all others, for each size of a tile.
      ok(before.length >= 2, textOf(build));
      deepStrictEqual([...new Set(before)], [wait], textOf(build));
    }
  },
});
