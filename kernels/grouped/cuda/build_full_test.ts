import { assert, assertEquals } from "@std/assert";
import { cudaKernels } from "./cuda.ts";
import { cases, CHOSEN } from "../testdata/cases.ts";
import {
  distinctBuilds,
  ptxOf,
  skipped,
  textOf,
  withoutNvcc,
} from "../../testdata/cuda_builds.ts";

// C++17 says in which order a call's object and its operands are evaluated, and g++, which
// compiles for the emulator, does so; nvcc 13.0 does not.
Deno.test({
  name: `best reads scales only after it has waited for their stage${skipped}`,
  ignore: withoutNvcc,
  async fn() {
    const chosen = distinctBuilds(cudaKernels, cases.built!).filter((b) =>
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
      assert(before.length >= 2, textOf(build));
      assertEquals([...new Set(before)], [wait], textOf(build));
    }
  },
});
