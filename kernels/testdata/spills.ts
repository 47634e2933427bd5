/**
 * What the tests of CUDA builds share: compilation by nvcc for the H200, ptxas's word that
 * nothing is spilled, and the PTX in between.
 *
 * @module
 */

import { doesNotMatch, match, ok, strictEqual } from "node:assert/strict";
import type { Build } from "../../bench/device/device.ts";
import { textOf } from "./cuda_builds.ts";

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

/** What a translation unit is for nvcc: its macros and its path. */
function unitOf({ source, defines }: Build): string[] {
  return [
    ...Object.entries(defines).map(([k, v]) => `-D${k}=${v}`),
    decodeURIComponent(source.pathname),
  ];
}

/** The PTX that nvcc makes of a build. */
export async function ptxOf(build: Build): Promise<string> {
  const folder = await Deno.makeTempDir();
  try {
    const result = await nvcc([
      ...["-ptx", "-O3", "-std=c++17", "-arch=compute_90a"],
      ...unitOf(build),
      `-o=${folder}/out.ptx`,
    ]);
    ok(result?.success, result?.log);
    return await Deno.readTextFile(`${folder}/out.ptx`);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

/**
 * Compiles all of `builds`, as many at a time as there are cores; each without a spill, a
 * stack unless it may have one, and a product of a warpgroup that waits for the one before.
 */
export async function compileWithoutSpills(
  builds: readonly Build[],
  mayHaveStack = false,
): Promise<void> {
  const folder = await Deno.makeTempDir();
  try {
    const left = builds.entries();
    let compiled = 0;
    const lane = async () => {
      for (const [i, build] of left) {
        const what = textOf(build);
        const result = await nvcc([
          "-cubin",
          "-O3",
          "-std=c++17",
          `-gencode=arch=compute_90a,code=${ARCH}`,
          "-Xptxas=-v",
          "-Werror=all-warnings",
          ...unitOf(build),
          `-o=${folder}/${i}.cubin`,
        ]);
        ok(result?.success, `${what}\n${result?.log}`);
        match(result.log, /bytes spill stores/, what);
        for (const [, bytes] of result.log.matchAll(/(\d+) bytes spill/g)) {
          strictEqual(bytes, "0", `${what} spills\n${result.log}`);
        }
        // An array that is indexed by a variable is on a stack, which is no spill.
        for (const [, bytes] of result.log.matchAll(/(\d+) bytes stack/g)) {
          if (!mayHaveStack) {
            strictEqual(bytes, "0", `${what} has a stack\n${result.log}`);
          }
        }
        // ptxas says so where it cannot keep wgmma asynchronous.
        doesNotMatch(result.log, /serialized/, what);
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
