import { ok, strictEqual } from "node:assert/strict";
import {
  buildTest,
  count,
  kernelNotes,
  mnemonics,
} from "../../../../backends/testdata/code_object.ts";
import { splitkBuild } from "./splitk.ts";
import { type Protocol, type SplitkConfig, splitkLds } from "./config.ts";

const base: SplitkConfig = {
  ...{ TM: 16, TN: 64, TK: 64, STAGES: 5, SPLIT: 8 },
  ...{ WAVES_M: 1, WAVES_N: 2, WAVES_K: 1, ASYNC: 1, B_TO_LDS: 1 },
};

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

const MFMA = {
  gfx942: { bf16: "v_mfma_f32_16x16x16_bf16", f16: "v_mfma_f32_16x16x16_f16" },
  gfx90a: { bf16: "v_mfma_f32_16x16x16bf16_1k", f16: "v_mfma_f32_16x16x16f16" },
} as const;

for (const arch of ["gfx942", "gfx90a"] as const) {
  for (const protocol of ["partials", "atomic"] satisfies Protocol[]) {
    buildTest(
      `splitk by ${protocol} builds without spills`,
      arch,
      async (compile) => {
        const configs = arch === "gfx942" ? [...ASYNC, ...STAGED] : STAGED;
        for (const type of ["bf16", "f16"] as const) {
          // gfx90a has no sum of two bf16 in memory.
          if (
            arch === "gfx90a" && protocol === "atomic" && type === "bf16"
          ) continue;
          for (const config of configs) {
            const title = `${type} ${JSON.stringify(config)}`;
            const binary = await compile(
              splitkBuild({ type }, config, protocol),
            );
            const [note] = await kernelNotes(binary);
            strictEqual(note!.name, "splitk");
            strictEqual(note!.spills, 0, `${title} spills`);
            strictEqual(note!.privateBytes, 0, title);
            strictEqual(note!.wave, 64);
            ok(splitkLds(config, protocol) <= 65536, title);
            // Two waves of any block on each SIMD.
            ok(
              note!.registers <= 256,
              `${title}: ${note!.registers} registers`,
            );
            const names = await mnemonics(binary);
            const { TM, TN, TK, WAVES_M, WAVES_N, WAVES_K } = config;
            const products = TM * TN * TK /
              (16 ** 3 * WAVES_M * WAVES_N * WAVES_K);
            ok(count(names, MFMA[arch][type]) >= products, title);
            const copies = count(names, "global_load_lds_dword");
            strictEqual(copies > 0, config.ASYNC === 1, title);
            if (protocol === "atomic") {
              ok(count(names, `global_atomic_pk_add_${type}`) > 0, title);
            }
            // What other dies must see is written back, and what they wrote is read afresh.
            if (arch === "gfx942") {
              ok(
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
