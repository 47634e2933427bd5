import { assert, assertEquals, assertThrows } from "@std/assert";
import fc from "fast-check";
import { UserError } from "../../bench/model/errors.ts";
import { identityOf } from "../../bench/row/row.ts";
import type { SourcedRow } from "../../bench/row/read_csv.ts";
import { join } from "./join.ts";
import { placed } from "../testdata/csv_rows.ts";

/** Sides of a few kernels on a few devices, none twice. */
const side = fc.uniqueArray(
  fc.tuple(fc.constantFrom("a", "b", "c", ""), fc.constantFrom("D", "E")),
  { selector: (tuple) => tuple.join("/"), maxLength: 8 },
).map((list) =>
  list.map(([kernel, device], line) => placed({ kernel, device }, { line }))
);

Deno.test("join() puts every row of either side into one pair, and no other", () => {
  fc.assert(fc.property(side, side, (base, next) => {
    const pairs = join(base, next);
    const bases = pairs.flatMap((pair) => pair.base ?? []);
    const nexts = pairs.flatMap((pair) => pair.next ?? []);
    assertEquals(new Set(bases).size, bases.length);
    assertEquals(new Set(nexts).size, nexts.length);
    assertEquals(new Set(bases), new Set(base));
    assertEquals(new Set(nexts), new Set(next));
    // In the order of the base, then what only the other has.
    assertEquals(bases, base);
    assert(pairs.findLastIndex(({ base }) => base) < bases.length);
  }));
});

Deno.test("join() pairs all that have the same case and device, and never two cases", () => {
  fc.assert(fc.property(side, side, (base, next) => {
    const pairs = join(base, next);
    const name = (one: SourcedRow) => identityOf(one.row);
    const common = base.filter((b) => next.some((n) => name(b) === name(n)));
    for (const one of common) {
      const pair = pairs.find((p) => p.base === one)!;
      assertEquals(name(pair.next!), name(one));
    }
    for (const { base: b, next: n } of pairs) {
      if (b && n) assertEquals(b.row.kernel, n.row.kernel);
    }
  }));
});

Deno.test("join() is the same from the other side", () => {
  fc.assert(fc.property(side, side, (base, next) => {
    const there = join(base, next).map((p) => [p.base, p.next] as const);
    const back = join(next, base).map((p) => [p.next, p.base] as const);
    assertEquals(there.length, back.length);
    for (const [b, n] of there) {
      assert(back.some(([c, o]) => b === c && n === o));
    }
  }));
});

Deno.test("join() leaves config out and pairs a case that moved to another device", () => {
  const base = placed({ config: "BM=16" });
  const other = placed({ config: "BM=32" });
  assertEquals(join([base], [other]), [{ base, next: other }]);
  const moved = placed({ device: "another" });
  assertEquals(join([base], [moved]), [{ base, next: moved }]);
  // With two to choose from, none is chosen.
  const third = placed({ device: "a third" });
  assertEquals(join([base], [moved, third]).length, 3);
});

Deno.test("join() refuses a case of two published runs, with both places", () => {
  const rows = [placed(), placed({}, { file: "b.csv", line: 9 })];
  for (const [base, next] of [[rows, []], [[], rows]] as const) {
    assertThrows(
      () => join(base, next),
      UserError,
      "Cannot compare: a.csv line 2 and b.csv line 9 are the same case",
    );
  }
});
