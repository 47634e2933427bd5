/**
 * Mutants of kernels: where each must be caught, and the tests that try them. `kernels/common/mutant.h`
 * says what they are in the sources.
 *
 * @module
 */

import { match, strictEqual } from "node:assert/strict";
import type { Device } from "../../bench/device/device.ts";
import { emulate, type Emulated } from "./emulated.ts";

/** Where a kernel is right, and where each of `mutants` must be caught. */
export interface MutantCase<P> extends Emulated<P> {
  readonly mutants: readonly string[];
}

/** Which tests to register: one mutant of each kernel, or all others. */
export type Tier = "quick" | "full";

/** Registers a test on an emulated device. */
export type DeviceTest = (
  name: string,
  test: (device: Device) => Promise<void>,
) => void;

/** What the emulator says of a kernel that is wrong: a wrong output, or a fault. */
const CAUGHT =
  /^wrong: |race|nobody wrote|no memory|bytes of memory|nothing orders|under way|across the end|waits for|for ever|barrier|has ended|launch failure: \w/;

/**
 * Registers tests: that a kernel passes at a case as it is, and that each mutant of the case is
 * caught there. The quick tier has the first mutant of the first case of each kernel.
 */
export function mutantTests<P>(
  test: DeviceTest,
  cases: Readonly<Record<string, MutantCase<P>>>,
  tier: Tier,
): void {
  const seen = new Set<string>();
  for (const [title, { mutants, ...rest }] of Object.entries(cases)) {
    const { name, backend } = rest.kernel;
    const first = !seen.has(name);
    seen.add(name);
    if (first || tier === "full") {
      if (first === (tier === "quick")) {
        test(`${name} for ${backend} passes as it is: ${title}`, async (device) =>
          strictEqual(await emulate(device, rest), ""));
      }
      const chosen = !first
        ? mutants
        : tier === "quick"
        ? mutants.slice(0, 1)
        : mutants.slice(1);
      for (const mutant of chosen) {
        test(
          `${name} for ${backend} does not pass as ${mutant}: ${title}`,
          async (device) =>
            match(await emulate(device, { ...rest, mutant }), CAUGHT),
        );
      }
    }
  }
}
