/**
 * `mnkbench check` on the lane emulator.
 *
 * @module
 */

import { deepStrictEqual, strictEqual } from "node:assert/strict";
import { fileURLToPath } from "node:url";
import { SHARED } from "../../backends/testdata/mocks.ts";

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

const DEVICES = {
  cuda: "emulator:sm_90a",
  hip: "emulator:gfx942",
  metal: "emulator:applegpu_g15s",
} as const;

const MAIN = fileURLToPath(new URL("../../cli/main.ts", import.meta.url));

/**
 * Checks what `args` select on `backend`, which must all be right or unsupported.
 *
 * @returns The rows.
 */
export async function emulatedCheck(
  backend: keyof typeof DEVICES,
  args: readonly string[],
): Promise<readonly CheckedRow[]> {
  const folder = await Deno.makeTempDir();
  // The emulator is built once for all tests, the kernels for each.
  await Deno.mkdir(`${SHARED}emulator`, { recursive: true });
  await Deno.mkdir(`${folder}/kernels`);
  await Deno.symlink(`${SHARED}emulator`, `${folder}/kernels/emulator`);
  try {
    const { code, stdout, stderr } = await new Deno.Command(Deno.execPath(), {
      args: [
        ...["run", "-A", "-q", MAIN, "check", "--json"],
        ...["--device", DEVICES[backend], ...args],
        ...["--kernel-cache", `${folder}/kernels`],
      ],
      cwd: folder,
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
