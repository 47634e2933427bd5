import { assertEquals, assertStrictEquals } from "@std/assert";
import type { LaunchPlan } from "./record.ts";
import { type Linear, mergeRows, type PlanRow } from "./rows.ts";

const build = { source: new URL("file:///k.cu"), defines: {} };

/** The plan of a kernel with tiles of 16 rows, of which M is an argument. */
function planAt(m: number, scratch: number): LaunchPlan<number> {
  return {
    note: "k",
    steps: [{
      build,
      entry: "k",
      grid: [Math.ceil(m / 16), 1, 1],
      shape: { block: [128, 1, 1] },
      args: [
        { kind: "int32", value: m },
        { kind: "pointer", at: { operand: "A" }, value: 0 },
      ],
    }],
    scratch,
    kept: [],
  };
}

const at = ({ base, slope }: Linear, m: number) => base + slope * m;

/** What a row says of one M: blocks, the argument, and bytes. */
function read({ plan }: PlanRow, m: number) {
  const [step] = plan.steps;
  const [argument] = step!.args;
  return [
    at(step!.grid[0]!, m),
    argument?.kind === "int32" ? at(argument.value, m) : undefined,
    at(plan.scratch, m),
  ];
}

Deno.test("mergeRows() has a row for each run of one grid, with M as an argument", () => {
  const plans = Array.from({ length: 40 }, (_, i) => ({
    m: 40 - i,
    plan: planAt(40 - i, 1024 * (40 - i)),
  }));
  const rows = mergeRows(plans);
  assertEquals(rows.map(({ from, to }) => [from, to]), [[1, 16], [17, 32], [
    33,
    40,
  ]]);
  for (const row of rows) {
    for (let m = row.from; m <= row.to; m++) {
      assertEquals(read(row, m), [Math.ceil(m / 16), m, 1024 * m]);
    }
  }
});

Deno.test("mergeRows() has no row for an M that was not asked for", () => {
  const rows = mergeRows([1, 2, 4, 5].map((m) => ({ m, plan: planAt(m, 0) })));
  assertEquals(rows.map(({ from, to }) => [from, to]), [[1, 2], [4, 5]]);
});

Deno.test("mergeRows() ends a row where anything but a line changes", () => {
  const plans = [1, 2, 3, 4].map((m) => ({
    m,
    plan: planAt(m, m === 3 ? 7 : 0),
  }));
  const rows = mergeRows(plans);
  for (const row of rows) {
    for (let m = row.from; m <= row.to; m++) {
      assertStrictEquals(read(row, m)[2], m === 3 ? 7 : 0);
    }
  }
  const other = planAt(2, 0);
  const [step] = other.steps;
  const entry = { ...other, steps: [{ ...step!, entry: "other" }] };
  assertStrictEquals(
    mergeRows([{ m: 1, plan: planAt(1, 0) }, { m: 2, plan: entry }]).length,
    2,
  );
});
