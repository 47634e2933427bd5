/**
 * The tests that kernels which cheat are found out.
 *
 * @module
 */

import { assertEquals, assertMatch } from "@std/assert";
import { ccTest } from "../../../backends/testdata/mocks.ts";
import { verdictsOf } from "./run.ts";
import { CHEATS, HONEST } from "./table.ts";

/** One in so many is tried by the quick test, the others by the full one. */
const QUICK = 4;

/** Registers the tests of one tier. */
export function cheatTests(tier: "quick" | "full"): void {
  const chosen = CHEATS.cpu.filter(({ os }, i) =>
    (i % QUICK === 0) === (tier === "quick") &&
    (os ?? Deno.build.os) === Deno.build.os
  );
  ccTest(
    `cheats in C are found out, and spoil no other row: ${tier}`,
    async () => {
      const rows = await verdictsOf("cpu", chosen);
      for (const { name, note } of chosen) {
        const row = rows.find(({ kernel }) => kernel === name)!;
        assertEquals(row.status, "wrong", `${name}: ${row.note}`);
        assertMatch(row.note, note, name);
      }
      const honest = rows.filter(({ kernel }) => kernel === HONEST);
      assertEquals(
        honest.map(({ status }) => status),
        honest.map(() => "ok"),
        honest[0]?.note,
      );
    },
  );
}
