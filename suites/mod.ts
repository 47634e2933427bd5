/**
 * The built-in suites by name. Each is loaded when it is asked for, and with it the kernels of its
 * operation alone.
 *
 * @module
 */

import type { Suite } from "../bench/model/suite.ts";

const decode = () => import("./decode-bf16.ts");
const mlx = () => import("./mlx-qmm.ts");
const models = () => import("./models.ts");
const skinny = () => import("./skinny.ts");

/** Loads the file of each suite, in the order of listings, sweeps and tables. */
const FILES: Readonly<
  Record<string, () => Promise<{ readonly default: Suite | readonly Suite[] }>>
> = {
  "epilogue-bf16": skinny,
  "matmul-bf16": skinny,
  "matmul-fp16": skinny,
  "matmul-fp32": skinny,
  "router-bf16": () => import("./router-bf16.ts"),
  "autotune-fp16": () => import("./autotune-fp16.ts"),
  "autotune-fp8": () => import("./autotune-fp8.ts"),
  "decode-bf16-k7168": decode,
  "decode-bf16-models": decode,
  "decode-glm": models,
  "decode-kimi-k2": models,
  "decode-llama": models,
  "decode-qwen32b": models,
  "decode-fp8": () => import("./decode-fp8.ts"),
  "ffn-swiglu": () => import("./ffn-swiglu.ts"),
  "mlx-qmm": mlx,
  "mlx-qmm-formats": mlx,
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
  const suites = files.flatMap((file) => file.default);
  return names.map((name) => suites.find((suite) => suite.name === name)!);
}
