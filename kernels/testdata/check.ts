/**
 * Runs `mnkbench check` on the lane emulator.
 *
 * @module
 */

import { assertEquals, assertStrictEquals } from "@std/assert";
import { fileURLToPath } from "node:url";
import { SHARED } from "../../backends/testdata/mocks.ts";
import type { EmulatedBackend } from "./cases.ts";

/** The fields of a row that tests look at. */
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

const DEVICES: Readonly<Record<EmulatedBackend, string>> = {
  cuda: "emulator:sm_90a",
  hip: "emulator:gfx942",
  metal: "emulator:applegpu_g15s",
};

const MAIN = fileURLToPath(new URL("../../cli/main.ts", import.meta.url));

const EDGE_SUITE = new URL("./cases.ts", import.meta.url);

/**
 * Checks the kernels for `backend` of the operation in `folder` at its edge-case shapes, or what
 * `args` select instead. All rows must be right or unsupported.
 *
 * @returns The rows.
 */
export async function emulatedCheck(
  { folder: op, backend, args }: {
    readonly folder: string;
    readonly backend: EmulatedBackend;
    readonly args?: readonly string[];
  },
): Promise<readonly CheckedRow[]> {
  const folder = await Deno.makeTempDir();
  // The emulator is built once for all tests, the kernels for each.
  await Deno.mkdir(`${SHARED}emulator`, { recursive: true });
  await Deno.mkdir(`${folder}/kernels`);
  const suite = `${folder}/edge.ts`;
  await Deno.writeTextFile(
    suite,
    `import { edgeSuite } from ${JSON.stringify(EDGE_SUITE.href)};
export default await edgeSuite("${op}", "${backend}");
`,
  );
  await Deno.symlink(`${SHARED}emulator`, `${folder}/kernels/emulator`);
  try {
    const { code, stdout, stderr } = await new Deno.Command(Deno.execPath(), {
      args: [
        ...["run", "-A", "-q", MAIN, "check", "--json"],
        ...["--device", DEVICES[backend], ...args ?? ["--suite", suite]],
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
    assertEquals(wrong.slice(0, 3), []);
    assertStrictEquals(code, 0, text(stderr));
    return rows;
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}
