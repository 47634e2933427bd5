import { ok, strictEqual } from "node:assert/strict";
import { hip } from "../../../backends/hip/hip.ts";
import {
  buildTest,
  count,
  kernelNotes,
  mnemonics,
} from "../../../backends/testdata/code_object.ts";
import { hipBuilds } from "./steps.ts";
import {
  atomOf,
  hipRules,
  type HipTile,
  hipTiles,
  registerBudget,
  wavesOfK,
} from "./tiles.ts";
import { matmul } from "../op.ts";
import { type MatmulPoint, TYPES } from "../point.ts";

const point = (type: string, layout: string): MatmulPoint =>
  matmul.point({ m: 64, n: 64, k: 1 << 15, type, layout, epilogue: "relu" });

const MFMA = {
  bf16: "v_mfma_f32_16x16x16_bf16",
  f16: "v_mfma_f32_16x16x16_f16",
  f32: "v_mfma_f32_16x16x4_f32",
} as const;
/** gfx90a writes the names in its own way. */
const OLD_MFMA = {
  bf16: "v_mfma_f32_16x16x16bf16_1k",
  f16: "v_mfma_f32_16x16x16f16",
  f32: "v_mfma_f32_16x16x4f32",
} as const;

/** Products of one K step that a wave must issue at least, once for each path. */
function products(tile: HipTile, type: MatmulPoint["type"]): number {
  const { BM, BN, BK, WAVES } = tile;
  const squares = BM / 16 * (BN / 16) / (WAVES / wavesOfK(tile));
  const each = type === "f32" ? 4 : 2;
  return squares * BK / atomOf(type) / wavesOfK(tile) * each;
}

for (const arch of ["gfx942", "gfx90a"]) {
  for (const type of TYPES) {
    for (const layout of ["nn", "nt"]) {
      const some = arch === "gfx942" && type === "bf16"
        ? hipTiles
        : [0, 3, 8, 12, 20, 21].map((i) => hipTiles[i]!);
      const at = point(type, layout);
      const tiles = some.filter((tile) => {
        const config = { ...tile, SPLIT: 8 };
        const info = { sharedBytes: 65536 } as Parameters<
          typeof hipRules.shared
        >[2];
        return !hipRules.shared(at, config, info) &&
          !hipRules.waves(at, config);
      });
      buildTest(
        `partial_mfma in ${type} ${layout} builds without spills`,
        arch,
        async (compile) => {
          const todo = tiles.values();
          let built = 0;
          const worker = async () => {
            for (const tile of todo) {
              const title = JSON.stringify(tile);
              const binary = await compile(hipBuilds.partial(at, tile));
              const [note, ...others] = await kernelNotes(binary);
              strictEqual(others.length, 0);
              strictEqual(note!.name, "partial_mfma");
              strictEqual(note!.spills, 0, `${title} spills`);
              strictEqual(
                note!.privateBytes,
                0,
                `${title} keeps arrays in memory`,
              );
              strictEqual(note!.ldsBytes, 0, title);
              strictEqual(note!.wave, 64, title);
              const budget = registerBudget(tile, type);
              ok(
                note!.registers <= budget,
                `${title} has ${note!.registers} registers, not ${budget}`,
              );
              const names = (arch === "gfx90a" ? OLD_MFMA : MFMA)[type];
              const found = count(await mnemonics(binary), names);
              // The path of whole chunks and the ragged one.
              ok(
                found >= 2 * products(tile, type),
                `${title}: ${found} of ${names}`,
              );
              built++;
            }
          };
          await Promise.all([worker(), worker()]);
          strictEqual(built, tiles.length);
          ok(built >= 3);
        },
      );
    }
  }

  buildTest("the other kernels build without spills", arch, async (compile) => {
    const others = TYPES.flatMap((type) => [
      hipBuilds.epilogue(point(type, "nn")),
      hipBuilds.sumTile(point(type, "nn")),
      hipBuilds.sumSplit(point(type, "nn")),
      ...matmul.referenceKernels!.filter(({ backend }) => backend === "hip")
        .flatMap((kernel) => kernel.builds(point(type, "nn"), {})),
    ]);
    others.push({ source: hip().instruments, defines: {} });
    for (const build of others) {
      for (const note of await kernelNotes(await compile(build))) {
        strictEqual(note.spills, 0, note.name);
        strictEqual(note.wave, 64, note.name);
        ok(note.registers <= 128, `${note.name}: ${note.registers}`);
      }
    }
  });
}
