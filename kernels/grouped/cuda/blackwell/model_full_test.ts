import { assert, assertStrictEquals } from "@std/assert";
import { decode } from "../../../../bench/model/dtype.ts";
import type { Values } from "../../../../bench/model/grid.ts";
import { otherMutants as blackwellMutants } from "../../testdata/cuda_mutants.ts";
import { hasRightBits, modelTest, run } from "./testdata/model.ts";

/** Rounds of the ring, a step that is not whole, tiles that start within an atom, ragged edges. */
const CASES: readonly (readonly [string, number, Values])[] = [
  ["tiles of 64 and 2 columns on", 64, { m: "1+72", n: "8+136", k: "64+1344" }],
  ["tiles of 192 over two atoms", 192, {
    m: "330+17",
    n: "72+8",
    k: "1408+320",
  }],
  ["M-major, in vectors and not", 128, {
    m: "129+40",
    n: "136+40",
    k: "192+1088",
    layout: "nt-mmajor",
  }],
];

for (const [title, MAXN, values] of CASES) {
  modelTest(
    `blackwell.cu computes C on the model of tcgen05: ${title}`,
    async () => {
      const { code, log, got, want } = await run(values, {
        MAXN,
        fill: "uniform",
      });
      assertStrictEquals(code, 0, log);
      assertStrictEquals(got.length, want.length);
      const [c, right] = [decode(got, "f16"), decode(want, "f16")];
      right.forEach((x, i) => {
        const off = Math.abs(c[i]! - x);
        assert(
          off <= 1e-3 + 1e-3 * Math.abs(x),
          `${i}: ${c[i]}, right is ${x}`,
        );
      });
    },
  );
}

for (const mutant of blackwellMutants.slice(1)) {
  modelTest(`blackwell.cu does not pass as ${mutant}`, async () => {
    assertStrictEquals(await hasRightBits(mutant), false);
  });
}
