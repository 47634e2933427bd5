import { deepStrictEqual, strictEqual } from "node:assert/strict";
import type { Build, DeviceInfo } from "../../bench/device.ts";
import { cudaKernels } from "./cuda.ts";
import { qmm } from "./op.ts";
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

const fileOf = ({ source }: Build) => source.pathname.split("/").at(-1)!;
const text = (build: Build) =>
  [
    fileOf(build),
    ...Object.entries(build.defines).map(([k, v]) => `${k}=${v}`),
  ].join(" ");

/** Every translation unit of every legal config at the odd points, once. */
function distinct(): Build[] {
  const found = new Map<string, Build>();
  const kernels = [...cudaKernels, ...qmm.referees ?? []];
  for (const kernel of kernels.filter(({ backend }) => backend === "cuda")) {
    for (const point of qmm.oddities) {
      if (kernel.unsupported(point, device) !== undefined) continue;
      for (const { config, illegal } of kernel.candidates(point, device)) {
        if (illegal !== undefined) continue;
        for (const b of kernel.builds(point, config)) found.set(text(b), b);
      }
    }
  }
  return [...found.values()];
}

/** Widths that divide a word and that do not, and each mode without a width. */
const CHOSEN = [
  "referee.cu TYPE=bf16",
  "referee.cu TYPE=f16",
  "dequantise.cu TYPE=f16 MODE=AFFINE BITS=3",
  "dequantise.cu TYPE=bf16 MODE=AFFINE BITS=8",
  "dequantise.cu TYPE=bf16 MODE=MXFP8 BITS=8",
  "dequantise.cu TYPE=f16 MODE=NVFP4 BITS=4",
];

Deno.test("builds() name every source file and every format", () => {
  const files = [...Deno.readDirSync(new URL(".", import.meta.url))]
    .map(({ name }) => name).filter((name) => name.endsWith(".cu"));
  const all = distinct();
  deepStrictEqual([...new Set(all.map(fileOf))].sort(), files.sort());
  deepStrictEqual(CHOSEN.filter((b) => !all.map(text).includes(b)), []);
});

Deno.test({
  name: `builds() compile for ${ARCH} without spilling${skipped}`,
  ignore: withoutNvcc,
  async fn() {
    const chosen = distinct().filter((b) => CHOSEN.includes(text(b)));
    strictEqual(chosen.length, CHOSEN.length);
    await compileWithoutSpills(chosen);
  },
});
