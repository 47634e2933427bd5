import { assert, assertEquals } from "@std/assert";
import { csvRow } from "../../report/testdata/csv_rows.ts";
import { damageBytes, damageText, randomOf } from "./testdata/mutations.ts";
import { flawsOf } from "./testdata/row_rules.ts";

const TEXT = '{"a": [1.5, 20],\n"b": "x"}\n';
const SEEDS = Array.from({ length: 600 }, (_, i) => i);

Deno.test("damageText() does the same for a seed, and all that it can for many", () => {
  const all = SEEDS.map((seed) => damageText(TEXT, randomOf(seed)));
  assertEquals(all, SEEDS.map((seed) => damageText(TEXT, randomOf(seed))));
  const kinds = new Set(all.map(({ damage }) => damage));
  assert(kinds.size >= 25, [...kinds].join(", "));
  const good = new TextEncoder().encode(TEXT);
  const changed = all.filter(({ bytes }) => `${bytes}` !== `${good}`);
  assert(changed.length > 0.8 * all.length, `${changed.length}`);
});

Deno.test("damageBytes() leaves the good bytes as they were", () => {
  const good = new Uint8Array([1, 2, 3, 4, 5, 6, 7, 8]);
  for (const seed of SEEDS) damageBytes(good, randomOf(seed));
  assertEquals(good, new Uint8Array([1, 2, 3, 4, 5, 6, 7, 8]));
});

Deno.test("flawsOf() finds rows that nobody measured", () => {
  assertEquals(flawsOf([csvRow()]), []);
  for (
    const change of [
      { median_us: "11", tflops: csvRow().tflops },
      { q1_us: "1", min_us: "2" },
      { temp_c: "٤" },
      { power_w: "-1" },
      { status: "crash" },
      { mean_us: "1e300" },
    ]
  ) {
    assertEquals(
      flawsOf([csvRow(change)]).length > 0,
      true,
      `${Object.keys(change)}`,
    );
  }
});
