import { ok, strictEqual } from "node:assert/strict";
import type { DeviceInfo } from "../../../../bench/device/device.ts";
import type { Values } from "../../../../bench/model/grid.ts";
import { matmul } from "../../op.ts";
import { type SplitkConfig, splitkRules } from "./config.ts";
import { jitName, registeredName } from "./names.ts";

const gfx942 = { arch: "gfx942", sharedBytes: 65536, units: 304 } as DeviceInfo;

const base: SplitkConfig = {
  ...{ TM: 16, TN: 64, TK: 64, STAGES: 4, SPLIT: 2 },
  ...{ WAVES_M: 1, WAVES_N: 2, WAVES_K: 1, ASYNC: 1, B_TO_LDS: 1 },
};

const POINT = { m: 21, n: 128, k: 768, layout: "nt", type: "bf16" };

Deno.test("splitkRules() each refuse something, and say why", () => {
  const point = matmul.point({ ...POINT, m: 128, n: 2112, k: 7168 });
  const broken: Record<string, Values> = {
    stages: { STAGES: 1 },
    columns: { TN: 128 },
    split: { SPLIT: 5 },
    slice: { TK: 48 },
    fill: { SPLIT: 7, TK: 256, STAGES: 8 },
    step: { TK: 56 },
    wavesM: { WAVES_M: 2 },
    wavesN: { WAVES_N: 8 },
    wavesK: { WAVES_K: 4 },
    waves: { WAVES_M: 4, WAVES_N: 4, WAVES_K: 2 },
    vectors: { WAVES_N: 4, WAVES_K: 4 },
    size: { TM: 512, TN: 256 },
    square: { TM: 256, TN: 256, TK: 64 },
    lds: { STAGES: 8, TK: 128 },
    flight: { STAGES: 8 },
    counters: { TN: 64 },
    dma: {},
    counted: { B_TO_LDS: 0 },
    ahead: { ASYNC: 0 },
  };
  const rules = splitkRules("partials");
  strictEqual(Object.keys(rules).join(), Object.keys(broken).join());
  for (const [name, change] of Object.entries(broken)) {
    const info = name === "dma" ? { ...gfx942, arch: "gfx90a" } : gfx942;
    const why = rules[name]!(
      point,
      { ...base, ...change } as SplitkConfig,
      info,
    );
    ok(why, name);
  }
});

Deno.test("registeredName() and jitName() are AITER's", () => {
  strictEqual(
    registeredName("bf16", base, "gfx942"),
    "flydsl_gemm4_abf16_wbf16_bf16_t16x64x64_split_k2_block_m_warp1_block_n_warp2_block_k_warp1_async_copyTrue_b_to_ldsTrue_b_preshuffleFalse_c_to_ldsTrue_gfx942",
  );
  strictEqual(
    jitName("f16", base, true),
    "hgemm_f16_16x64x64x4_SPK2_W1x2x1_BLDS1_TN_AS1_BIAS",
  );
});
