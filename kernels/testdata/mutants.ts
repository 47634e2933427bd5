/**
 * Mutants of kernels: the tests that try them. `kernels/common/mutant.h` says what
 * they are in the sources.
 *
 * @module
 */

import { assertEquals, assertMatch } from "@std/assert";
import type { Device } from "../../bench/device/device.ts";
import { cudaTest } from "../../backends/testdata/cuda_mocks.ts";
import { hipTest } from "../../backends/testdata/hip_mocks.ts";
import { metalTest } from "../../backends/testdata/metal_mocks.ts";
import { ops } from "../mod.ts";
import { type EmulatedBackend, mutantsFor } from "./cases.ts";
import { emulate } from "./emulated.ts";

/** The tests to register: one mutant of each kernel, or all others. */
export type Tier = "quick" | "full";

/** Registers a test on the emulated device of a backend. */
export const DEVICE_TESTS: Readonly<
  Record<
    EmulatedBackend,
    (
      name: string,
      test: (device: Device) => Promise<void>,
      arch?: string,
    ) => void
  >
> = { cuda: cudaTest, hip: hipTest, metal: metalTest };

/** Matches the emulator's errors for a kernel that is wrong: a wrong output, or a fault. */
const CAUGHT =
  /^wrong: |race|nobody wrote|no memory|bytes of memory|nothing orders|under way|across the end|waits for|for ever|barrier|has ended|launch failure: \w/;

/**
 * Registers the tests of each operation's mutants for `backend`: that a kernel passes at a case as
 * it is, and that each mutant of the case is caught there. The quick tier has the first mutant of
 * the first case of each kernel.
 */
export async function mutantTests(
  backend: EmulatedBackend,
  tier: Tier,
): Promise<void> {
  const test = DEVICE_TESTS[backend];
  for (const { folder, op } of ops) {
    const seen = new Set<string>();
    const { mutantCases } = await mutantsFor(folder, backend);
    for (
      const [title, { mutants, arch, ...rest }] of Object.entries(mutantCases)
    ) {
      const name = `${op.name} ${rest.kernel.name} for ${arch ?? backend}`;
      const first = !seen.has(name);
      seen.add(name);
      if (!first && tier === "quick") continue;
      if (first === (tier === "quick")) {
        test(
          `${name} passes as it is: ${title}`,
          async (device) => assertEquals(await emulate(device, rest), ""),
          arch,
        );
      }
      const chosen = !first
        ? mutants
        : tier === "quick"
        ? mutants.slice(0, 1)
        : mutants.slice(1);
      for (const mutant of chosen) {
        test(
          `${name} does not pass as ${mutant}: ${title}`,
          async (device) =>
            assertMatch(await emulate(device, { ...rest, mutant }), CAUGHT),
          arch,
        );
      }
    }
  }
}
