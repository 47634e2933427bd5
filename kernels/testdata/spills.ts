/**
 * What the tests of CUDA builds share: compilation by nvcc for the H200, and ptxas's word that
 * nothing is spilled.
 *
 * @module
 */

import { match, ok, strictEqual } from "node:assert/strict";
import type { Build } from "../../bench/device.ts";

/** What is compiled for. */
export const ARCH = "sm_90a";

async function nvcc(args: readonly string[]) {
  try {
    const { success, stdout, stderr } = await new Deno.Command("nvcc", {
      args: [...args],
    }).output();
    const decoder = new TextDecoder();
    return { success, log: decoder.decode(stdout) + decoder.decode(stderr) };
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return undefined;
    throw error;
  }
}

/** Whether there is no nvcc. */
export const withoutNvcc: boolean = await nvcc(["--version"]) === undefined;
/** The end of the name of a test that needs nvcc. */
export const skipped = withoutNvcc ? " (skipped: nvcc is not on PATH)" : "";

/**
 * Compiles all of `builds`, as many at a time as there are cores; each without a spill.
 *
 * @param also What else must hold of a log.
 */
export async function compileWithoutSpills(
  builds: readonly Build[],
  also: (log: string, what: string) => void = () => {},
): Promise<void> {
  const folder = await Deno.makeTempDir();
  try {
    const left = builds.entries();
    let compiled = 0;
    const lane = async () => {
      for (const [i, { source, defines }] of left) {
        const path = decodeURIComponent(source.pathname);
        const macros = Object.entries(defines).map(([k, v]) => `-D${k}=${v}`);
        const what = [path.split("/").at(-1), ...macros].join(" ");
        const result = await nvcc([
          "-cubin",
          "-O3",
          "-std=c++17",
          `-gencode=arch=compute_90a,code=${ARCH}`,
          "-Xptxas=-v",
          "-Werror=all-warnings",
          ...macros,
          path,
          `-o=${folder}/${i}.cubin`,
        ]);
        ok(result?.success, `${what}\n${result?.log}`);
        match(result.log, /bytes spill stores/, what);
        for (const [, bytes] of result.log.matchAll(/(\d+) bytes spill/g)) {
          strictEqual(bytes, "0", `${what} spills\n${result.log}`);
        }
        also(result.log, what);
        compiled++;
      }
    };
    await Promise.all(
      Array.from({ length: navigator.hardwareConcurrency }, lane),
    );
    strictEqual(compiled, builds.length);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}
