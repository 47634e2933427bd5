import { assertEquals } from "@std/assert";
import { publishedRow } from "../import/foreign.ts";
import { noiseNotes } from "./noise.ts";

/** What helps against noisy rows of so many runs each. */
function remedy(...runs: readonly number[]): string | undefined {
  const rows = runs.map((count) =>
    publishedRow({
      median_us: "10",
      q1_us: "5",
      q3_us: "15",
      runs: `${count}`,
    })
  );
  return noiseNotes(rows)[0]?.split("; try ")[1];
}

Deno.test("noiseNotes() names what has not been tried", () => {
  assertEquals(remedy(), undefined);
  assertEquals(remedy(1, 1), "--runs 5");
  assertEquals(remedy(3), "--runs 5");
  assertEquals(remedy(5), "a quieter machine or --runs 10");
  assertEquals(remedy(1, 12), "a quieter machine or --runs 24");
  assertEquals(remedy(10_000), "a quieter machine");
});
