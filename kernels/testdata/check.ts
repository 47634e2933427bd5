/**
 * `mnkbench check` on the lane emulator, through the mock drivers.
 *
 * @module
 */

import { deepStrictEqual, strictEqual } from "node:assert/strict";
import { fileURLToPath } from "node:url";
import { cudaEnvironment } from "../../backends/testdata/cuda_mocks.ts";
import { hipFolder } from "../../backends/testdata/hip_mocks.ts";
import { metalFolder } from "../../backends/testdata/metal_mocks.ts";

/** What of a row is looked at. */
export interface CheckedRow {
  readonly kernel: string;
  readonly status: string;
  readonly note: string;
  readonly a_type: string;
  readonly layout: string;
  readonly params: string;
  readonly config: string;
  readonly deterministic: boolean;
  readonly m: number;
  readonly n: number;
  readonly k: number;
}

/** What another process needs to find the mock drivers. */
const ENVIRONMENTS = {
  cuda: cudaEnvironment,
  hip: () => ({ LD_LIBRARY_PATH: hipFolder() }),
  metal: () => ({ LD_LIBRARY_PATH: metalFolder() }),
} as const;

const MAIN = fileURLToPath(new URL("../../cli/main.ts", import.meta.url));

/**
 * Checks what `args` select on `backend`, which must all be right or unsupported.
 *
 * @returns The rows.
 */
export async function emulatedCheck(
  backend: keyof typeof ENVIRONMENTS,
  args: readonly string[],
): Promise<readonly CheckedRow[]> {
  const folder = await Deno.makeTempDir();
  try {
    const { code, stdout, stderr } = await new Deno.Command(Deno.execPath(), {
      args: [
        ...["run", "-A", "-q", MAIN, "check", "--backend", backend, "--json"],
        ...args,
        // Not the usual one: these binaries are for the emulator.
        ...["--kernel-cache", `${folder}/kernels`],
      ],
      cwd: folder,
      env: ENVIRONMENTS[backend](),
    }).output();
    const text = (bytes: Uint8Array) => new TextDecoder().decode(bytes);
    const rows = text(stdout).trim().split("\n").filter(Boolean)
      .map((line): CheckedRow => JSON.parse(line));
    const wrong = rows.filter(({ status }) =>
      status !== "checked" && status !== "unsupported"
    );
    deepStrictEqual(wrong.slice(0, 3), []);
    strictEqual(code, 0, text(stderr));
    return rows;
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}
