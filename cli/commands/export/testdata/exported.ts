/**
 * Exports for the emulator, for tests.
 *
 * @module
 */

import { assertStrictEquals } from "@std/assert";
import { join } from "node:path";
import { emulatedCuda } from "../../../../backends/testdata/cuda_mocks.ts";
import type { Overrides } from "../../../../bench/model/axes.ts";
import { exportKernels } from "../files.ts";

/** Calls `work` with the folder of an export for the emulator, with `--pdl` or without. */
export async function exported<T>(
  op: string,
  kernels: readonly string[],
  overrides: Overrides,
  work: (out: string) => Promise<T>,
  pdl = false,
): Promise<T> {
  const folder = await Deno.makeTempDir({ prefix: "export" });
  try {
    const out = join(folder, "out");
    const code = await exportKernels({
      op,
      suites: [],
      kernels,
      overrides,
      where: {},
      quick: false,
      arch: "sm_90a",
      out,
      pdl,
      kernelCache: join(folder, "kernels"),
    }, emulatedCuda());
    assertStrictEquals(code, 0);
    return await work(out);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

/** Runs a program to its end. */
export async function run(program: string, args: readonly string[]) {
  const { code, stdout, stderr } = await new Deno.Command(program, {
    args: [...args],
  }).output();
  const text = (bytes: Uint8Array) => new TextDecoder().decode(bytes);
  return { code, stdout: text(stdout), stderr: text(stderr) };
}
