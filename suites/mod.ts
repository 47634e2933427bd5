/**
 * The built-in suites by name. Each is loaded when it is asked for, and with it the kernels of its
 * operation alone.
 *
 * @module
 */

import type { Suite } from "../bench/model/suite.ts";

/** Loads the file of each suite, in the order of listings, sweeps and tables. */
const FILES: Readonly<
  Record<string, () => Promise<{ readonly default: Suite }>>
> = {
  "epilogue-bf16": () => import("./epilogue-bf16.ts"),
  "matmul-bf16": () => import("./matmul-bf16.ts"),
  "matmul-fp16": () => import("./matmul-fp16.ts"),
  "matmul-fp32": () => import("./matmul-fp32.ts"),
  "router-bf16": () => import("./router-bf16.ts"),
  "autotune-fp16": () => import("./autotune-fp16.ts"),
  "autotune-fp8": () => import("./autotune-fp8.ts"),
  "decode-bf16-k7168": () => import("./decode-bf16-k7168.ts"),
  "decode-bf16-models": () => import("./decode-bf16-models.ts"),
  "decode-glm": () => import("./decode-glm.ts"),
  "decode-kimi-k2": () => import("./decode-kimi-k2.ts"),
  "decode-llama": () => import("./decode-llama.ts"),
  "decode-qwen32b": () => import("./decode-qwen32b.ts"),
  "decode-fp8": () => import("./decode-fp8.ts"),
  "ffn-swiglu": () => import("./ffn-swiglu.ts"),
  "mlx-qmm": () => import("./mlx-qmm.ts"),
  "mlx-qmm-formats": () => import("./mlx-qmm-formats.ts"),
  "grouped-nvfp4": () => import("./grouped-nvfp4.ts"),
};

/** The names of all suites. */
export const suiteNames: readonly string[] = Object.keys(FILES);

/** The names of the suites that are swept where none is named. */
export const usualNames: readonly string[] = suiteNames.slice(0, 4);

/** Loads the suites named `names`, which are all of {@linkcode suiteNames}. */
export async function builtInSuites(
  names: readonly string[] = suiteNames,
): Promise<readonly Suite[]> {
  const files = await Promise.all(names.map((name) => FILES[name]!()));
  return files.map((file) => file.default);
}
