import { deepStrictEqual } from "node:assert/strict";
import { TYPES } from "../point.ts";
import {
  distinct,
  DOTS,
  dotted,
  EXTREMES,
  tile,
} from "../testdata/cuda_builds.ts";
import { fileOf, smallestOfEach } from "../../testdata/cuda_builds.ts";
import {
  ARCH,
  compileWithoutSpills,
  skipped,
  withoutNvcc,
} from "../../testdata/spills.ts";

Deno.test("builds() name every source file, type, layout and extreme tile", () => {
  const all = distinct();
  const files = ["./", "./cluster/"].flatMap((folder) =>
    [...Deno.readDirSync(new URL(folder, import.meta.url))]
      .map(({ name }) => name).filter((name) => name.endsWith(".cu"))
  );
  const named = new Set(all.map(fileOf));
  deepStrictEqual([...named].sort(), files.sort());
  for (const type of TYPES) {
    const dots = all.filter((b) => b.defines.TYPE === type).map(dotted);
    deepStrictEqual(DOTS.filter((d) => !dots.includes(d)), []);
    for (const layout of ["nn", "nt"]) {
      const tiles = all.filter((b) =>
        b.defines.TYPE === type && b.defines.LAYOUT === layout
      ).map(tile);
      const missing = EXTREMES.filter((e) => !tiles.includes(e));
      // fp32 has no room for the largest ring.
      deepStrictEqual(missing, type === "f32" ? ["64 64 128 4 5"] : []);
    }
  }
});

Deno.test({
  name: `builds() of each source compile for ${ARCH}${skipped}`,
  ignore: withoutNvcc,
  fn: () => compileWithoutSpills(smallestOfEach(distinct())),
});
