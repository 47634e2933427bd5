/**
 * `mnkbench check --backend cuda` on the lane emulator.
 *
 * @module
 */

import { strictEqual } from "node:assert/strict";
import { fileURLToPath } from "node:url";
import { cudaEnvironment } from "../../backends/testdata/cuda_mocks.ts";

/** What of a row is looked at. */
export interface CheckedRow {
  readonly kernel: string;
  readonly status: string;
  readonly note: string;
  readonly a_type: string;
  readonly layout: string;
  readonly params: string;
  readonly config: string;
  readonly m: number;
  readonly n: number;
  readonly k: number;
}

const MAIN = fileURLToPath(new URL("../../cli/main.ts", import.meta.url));

/** Checks what `args` select, which must all be right or unsupported. @returns The rows. */
export async function cudaCheck(
  args: readonly string[],
): Promise<readonly CheckedRow[]> {
  const folder = await Deno.makeTempDir();
  try {
    const { code, stdout, stderr } = await new Deno.Command(Deno.execPath(), {
      args: [
        ...["run", "-A", "-q", MAIN, "check", "--backend", "cuda", "--json"],
        ...args,
        // Not the usual one: these binaries are for the emulator.
        ...["--kernel-cache", `${folder}/kernels`],
      ],
      cwd: folder,
      env: cudaEnvironment(),
    }).output();
    const text = (bytes: Uint8Array) => new TextDecoder().decode(bytes);
    strictEqual(code, 0, text(stderr));
    const rows = text(stdout).trim().split("\n").filter(Boolean)
      .map((line) => JSON.parse(line) as CheckedRow);
    const wrong = rows.filter(({ status }) =>
      status !== "checked" && status !== "unsupported"
    );
    strictEqual(wrong.length, 0, JSON.stringify(wrong.slice(0, 3)));
    return rows;
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}
