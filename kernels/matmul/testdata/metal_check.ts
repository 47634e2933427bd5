/**
 * `mnkbench check --backend metal` on the lane emulator.
 *
 * @module
 */

import { strictEqual } from "node:assert/strict";
import { fileURLToPath } from "node:url";
import { metalFolder } from "../../../backends/testdata/metal_mocks.ts";

/** What of a row is looked at. */
export interface CheckedRow {
  readonly kernel: string;
  readonly status: string;
  readonly note: string;
  readonly a_type: string;
  readonly params: string;
  readonly config: string;
  readonly m: number;
}

/** Checks every point of the suite in the file at `suite`. @returns The rows. */
export async function metalCheck(
  suite: URL,
): Promise<readonly CheckedRow[]> {
  const folder = await Deno.makeTempDir();
  try {
    const main = fileURLToPath(
      new URL("../../../cli/main.ts", import.meta.url),
    );
    const { code, stdout, stderr } = await new Deno.Command(Deno.execPath(), {
      args: [
        ...["run", "-A", "-q", main, "check", "--backend", "metal"],
        ...["--suite", fileURLToPath(suite), "--json"],
        // Not the usual one: these binaries are for the emulator.
        ...["--kernel-cache", `${folder}/kernels`],
      ],
      cwd: folder,
      env: { LD_LIBRARY_PATH: metalFolder() },
    }).output();
    const text = (bytes: Uint8Array) => new TextDecoder().decode(bytes);
    const rows = text(stdout).trim().split("\n").filter(Boolean)
      .map((line) => JSON.parse(line) as CheckedRow);
    const wrong = rows.filter(({ status }) =>
      status !== "checked" && status !== "unsupported"
    );
    strictEqual(code, 0, text(stderr) + JSON.stringify(wrong.slice(0, 3)));
    return rows;
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}
