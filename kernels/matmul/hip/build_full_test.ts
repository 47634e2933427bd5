import { assert, assertStrictEquals } from "@std/assert";
import { hip } from "../../../backends/hip/hip.ts";
import {
  buildTest,
  count,
  kernelNotes,
  mnemonics,
} from "../../../backends/testdata/code_object.ts";
import { DecomposeSteps } from "../../common/decompose_k.ts";
import { matmul } from "../op.ts";
import { type MatmulPoint, TYPES } from "../point.ts";
import { SMALL_SPLITK } from "../testdata/hip_mutants.ts";
import {
  atomOf,
  hipDecompose,
  hipRules,
  type HipTile,
  hipTiles,
  registerBudget,
  wavesOfK,
} from "./hip.ts";
import {
  type Protocol,
  type SplitkConfig,
  splitkLds,
} from "./splitk/config.ts";
import { splitkBuild } from "./splitk/splitk.ts";

const point = (type: string, layout: string): MatmulPoint =>
  matmul.point({ m: 64, n: 64, k: 1 << 15, type, layout, epilogue: "relu" });

const steps = new DecomposeSteps(hipDecompose);

const ARCHS = ["gfx950", "gfx942", "gfx90a"] as const;
type Arch = typeof ARCHS[number];

/** Bytes of the local data share. */
const LDS = { gfx950: 163840, gfx942: 65536, gfx90a: 65536 } as const;
/** The products of each architecture. */
const MFMA = {
  gfx950: {
    bf16: "v_mfma_f32_16x16x32_bf16",
    f16: "v_mfma_f32_16x16x32_f16",
    f32: "v_mfma_f32_16x16x4_f32",
  },
  gfx942: {
    bf16: "v_mfma_f32_16x16x16_bf16",
    f16: "v_mfma_f32_16x16x16_f16",
    f32: "v_mfma_f32_16x16x4_f32",
  },
  gfx90a: {
    bf16: "v_mfma_f32_16x16x16bf16_1k",
    f16: "v_mfma_f32_16x16x16f16",
    f32: "v_mfma_f32_16x16x4f32",
  },
} as const;

/** Products of one K step that a wave must issue at least, once for each path. */
function products(
  tile: HipTile,
  type: MatmulPoint["type"],
  arch: Arch,
): number {
  const { BM, BN, BK, WAVES } = tile;
  const squares = BM / 16 * (BN / 16) / (WAVES / wavesOfK(tile));
  const each = type === "f32" ? 4 : arch === "gfx950" ? 1 : 2;
  return squares * BK / atomOf(type) / wavesOfK(tile) * each;
}

for (const arch of ARCHS) {
  for (const type of TYPES) {
    for (const layout of ["nn", "nt"]) {
      // All of them once, in the layout that takes twice as long to compile.
      const some = arch === "gfx942" && type === "bf16" && layout === "nn"
        ? hipTiles
        : [0, 3, 8, 12, 20, 21].map((i) => hipTiles[i]!);
      const at = point(type, layout);
      const tiles = some.filter((tile) => {
        const config = { ...tile, SPLIT: 8 };
        const info = { sharedBytes: LDS[arch] } as Parameters<
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
              const binary = await compile(
                steps.partialBuild(at, { ...tile, SPLIT: 8 }),
              );
              const [note, ...others] = await kernelNotes(binary);
              assertStrictEquals(others.length, 0);
              assertStrictEquals(note!.name, "partial_mfma");
              assertStrictEquals(note!.spills, 0, `${title} spills`);
              assertStrictEquals(
                note!.privateBytes,
                0,
                `${title} keeps arrays in memory`,
              );
              assertStrictEquals(note!.ldsBytes, 0, title);
              assertStrictEquals(note!.wave, 64, title);
              const budget = registerBudget(tile, type);
              assert(
                note!.registers <= budget,
                `${title} has ${note!.registers} registers, not ${budget}`,
              );
              const names = MFMA[arch][type];
              const found = count(await mnemonics(binary), names);
              // The path of whole chunks and the ragged one.
              assert(
                found >= 2 * products(tile, type, arch),
                `${title}: ${found} of ${names}`,
              );
              built++;
            }
          };
          await Promise.all([worker(), worker()]);
          assertStrictEquals(built, tiles.length);
          assert(built >= 3);
        },
      );
    }
  }

  buildTest("the other kernels build without spills", arch, async (compile) => {
    const others = TYPES.flatMap((type) => [
      steps.sums(point(type, "nn")),
      ...matmul.referenceKernels!.filter(({ backend }) => backend === "hip")
        .flatMap((kernel) => kernel.builds(point(type, "nn"), {})),
    ]);
    others.push({ source: hip().instruments, defines: {} });
    for (const build of others) {
      for (const note of await kernelNotes(await compile(build))) {
        assertStrictEquals(note.spills, 0, note.name);
        assertStrictEquals(note.wave, 64, note.name);
        assert(note.registers <= 128, `${note.name}: ${note.registers}`);
      }
    }
  });
}

const base: SplitkConfig = { ...SMALL_SPLITK, STAGES: 5, SPLIT: 8 };

/** AITER's winners (small tiles, splits of 7 or 8), and the widest of ours. */
const ASYNC: readonly SplitkConfig[] = [
  base,
  { ...base, TK: 128, STAGES: 2, WAVES_N: 1, WAVES_K: 2 },
  { ...base, TK: 128, STAGES: 3, WAVES_N: 4 },
  { ...base, TM: 32, TN: 128, STAGES: 3, WAVES_M: 2, WAVES_N: 2 },
  { ...base, TM: 128, TN: 128, STAGES: 2, WAVES_M: 2, WAVES_N: 2 },
];
const STAGED: readonly SplitkConfig[] = [
  { ...base, STAGES: 2, ASYNC: 0 },
  { ...base, STAGES: 2, ASYNC: 0, B_TO_LDS: 0, TK: 128 },
  { ...base, STAGES: 2, ASYNC: 0, TM: 64, TN: 128, WAVES_N: 4 },
];

/** Rings beyond 64 KiB: more places, longer steps, a wider tile. The first takes all of 160 KiB. */
const LARGE: readonly SplitkConfig[] = [
  { ...base, TK: 128, STAGES: 8 },
  { ...base, TK: 256, STAGES: 3, WAVES_K: 2 },
  { ...base, TM: 128, TN: 128, STAGES: 4, WAVES_M: 2, WAVES_N: 2 },
];
const SPLITK = {
  gfx950: [...LARGE, ...ASYNC, ...STAGED],
  gfx942: [...ASYNC, ...STAGED],
  gfx90a: STAGED,
} as const;

for (const arch of ARCHS) {
  for (const protocol of ["partials", "atomic"] satisfies Protocol[]) {
    buildTest(
      `splitk by ${protocol} builds without spills`,
      arch,
      async (compile) => {
        for (const type of ["bf16", "f16"] as const) {
          // gfx90a has no sum of two bf16 in memory.
          if (
            arch === "gfx90a" && protocol === "atomic" && type === "bf16"
          ) continue;
          for (const config of SPLITK[arch]) {
            const title = `${type} ${JSON.stringify(config)}`;
            const binary = await compile(
              splitkBuild({ type }, config, protocol),
            );
            const [note] = await kernelNotes(binary);
            assertStrictEquals(note!.name, "splitk");
            assertStrictEquals(note!.spills, 0, `${title} spills`);
            assertStrictEquals(note!.privateBytes, 0, title);
            assertStrictEquals(note!.wave, 64);
            assert(splitkLds(config, protocol) <= LDS[arch], title);
            // Two waves of any block on each SIMD.
            assert(
              note!.registers <= 256,
              `${title}: ${note!.registers} registers`,
            );
            const names = await mnemonics(binary);
            const { TM, TN, TK, WAVES_M, WAVES_N, WAVES_K } = config;
            const products = TM * TN * TK /
              (16 * 16 * (arch === "gfx950" ? 32 : 16)) /
              (WAVES_M * WAVES_N * WAVES_K);
            assert(count(names, MFMA[arch][type]) >= products, title);
            const copies = count(names, "global_load_lds_dword");
            assertStrictEquals(copies > 0, config.ASYNC === 1, title);
            const wide = count(names, "global_load_lds_dwordx4");
            assertStrictEquals(wide, arch === "gfx950" ? copies : 0, title);
            if (protocol === "atomic") {
              assert(count(names, `global_atomic_pk_add_${type}`) > 0, title);
            }
            // What other dies must see is written back, and what they wrote is read afresh.
            if (arch !== "gfx90a") {
              assert(
                count(names, "buffer_wbl2") > 0 &&
                  count(names, "buffer_inv") > 0,
                title,
              );
            }
          }
        }
      },
    );
  }
}
