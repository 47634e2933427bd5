import { assertEquals, assertStrictEquals } from "@std/assert";
import {
  buildTest,
  kernelNotes,
} from "../../../backends/testdata/code_object.ts";
import type { Build } from "../../../bench/device/device.ts";
import { hipKernels } from "./hip.ts";
import type { SplitkConfig } from "./splitk/config.ts";
import { splitkKernels } from "./splitk/splitk.ts";
import { hipTiles } from "./decompose_k.ts";
import { matmul } from "../op.ts";

const point = matmul.point({
  ...{ m: 64, n: 64, k: 1 << 15, type: "bf16", layout: "nn", epilogue: "relu" },
});
const kernels = [...hipKernels, ...matmul.referenceKernels!].filter((
  { backend },
) => backend === "hip");
const sources = ({ source }: Build) => source.pathname.split("/").at(-1)!;
const splitk: SplitkConfig = {
  ...{ TM: 16, TN: 64, TK: 64, STAGES: 5, SPLIT: 8 },
  ...{ WAVES_M: 1, WAVES_N: 2, WAVES_K: 1, ASYNC: 1, B_TO_LDS: 1 },
};
const builds = kernels.flatMap((kernel) =>
  kernel.builds(
    point,
    splitkKernels.includes(kernel) ? splitk : { ...hipTiles[0]!, SPLIT: 2 },
  )
);

Deno.test("hipKernels name every .hip source", () => {
  const files = ["./", "./splitk/"].flatMap((folder) =>
    [...Deno.readDirSync(new URL(folder, import.meta.url))]
      .map(({ name }) => name).filter((name) => name.endsWith(".hip"))
  );
  assertEquals(
    [...new Set(builds.map(sources))].sort(),
    [...files, "reference.cu"].sort(),
  );
});

buildTest("each source builds without spills", "gfx942", async (compile) => {
  const each = new Map(builds.map((b) => [sources(b), b]));
  for (const build of each.values()) {
    for (const note of await kernelNotes(await compile(build))) {
      assertStrictEquals(note.spills, 0, note.name);
      assertStrictEquals(note.wave, 64, note.name);
    }
  }
});
