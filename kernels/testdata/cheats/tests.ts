/**
 * The tests that kernels which cheat are found out.
 *
 * @module
 */

import { assert, assertEquals, assertMatch } from "@std/assert";
import { ccTest, cxxTest } from "../../../backends/testdata/mocks.ts";
import { fileURLToPath } from "node:url";
import { askTool } from "../../../backends/shared/compiler.ts";
import { emulated } from "./emulator.ts";
import { verdictsOf } from "./run.ts";
import { SOURCES } from "./suite.ts";
import { cheatsAt, HONEST, type Place, type Verdict } from "./table.ts";

/** One in so many is tried by the quick test, the others by the full one. */
const QUICK = 5;
/** A kernel that the device stopped, or that broke its process, is found out too. */
const FOUND = ["wrong", "launch", "crash"];

/** Registers the tests of one tier. */
export function cheatTests(tier: "quick" | "full"): void {
  const at = (place: Place) =>
    cheatsAt(place).filter((_, i) => (i % QUICK === 0) === (tier === "quick"));
  ccTest(
    `cheats in C are found out, and spoil no other row: ${tier}`,
    async () => {
      demand("cpu", at("cpu"), await verdictsOf("cpu", at("cpu")));
    },
  );
  cxxTest(`cheats in CUDA are found out on the emulator: ${tier}`, async () => {
    demand("emulator", at("emulator"), await emulated(at("emulator")));
  });
}

/** Registers the test that nvcc compiles what only a GPU can run. */
export function buildTest(): void {
  const ignore = !askTool("nvcc", ["--version"])?.success;
  Deno.test({
    name: `nvcc compiles the cheats in CUDA${
      ignore ? " (ignored: no nvcc)" : ""
    }`,
    ignore,
    fn() {
      const source = fileURLToPath(SOURCES.cuda);
      const { success, stderr } = new Deno.Command("nvcc", {
        args: ["-cubin", "-arch=sm_90a", "-o", "/dev/null", source],
      }).outputSync();
      assert(success, new TextDecoder().decode(stderr));
    },
  });
}

/** Demands that each of `cheats` is found out as the table says, and the honest kernel is not. */
function demand(
  place: Place,
  cheats: ReturnType<typeof cheatsAt>,
  rows: readonly Verdict[],
): void {
  for (const { name, notes, suspect = false } of cheats) {
    const { status, note } = rows.find(({ kernel }) => kernel === name)!;
    const found = suspect ? ["ok"] : FOUND;
    assert(found.includes(status), `${name}: ${status}, ${note}`);
    assertMatch(note, notes[place]!, name);
  }
  for (const { status, note } of rows.filter((row) => row.kernel === HONEST)) {
    assertEquals(status, "ok", note);
  }
}
