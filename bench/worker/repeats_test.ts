import { assertEquals } from "@std/assert";
import { combine } from "./repeats.ts";
import type { FailedRow, TimedRow } from "../row/row.ts";
import { timedRow } from "../testdata/rows.ts";

const rows = (...medians: number[]) =>
  medians.map((median_us) => timedRow("k", { median_us }));

Deno.test("combine() leaves a single row as it is", () => {
  const [row] = rows(5);
  assertEquals(combine([row!]), row);
});

Deno.test("combine() takes the repeat in the middle and the spread of all", () => {
  const [a, b, c] = rows(7, 3, 5);
  assertEquals(combine([a!, b!, c!]), {
    ...c!,
    figures: {
      ...c!.figures,
      runs: 3,
      between_run_us: 2,
    },
  });
});

Deno.test("combine() halves between two in the middle, rates included", () => {
  const { figures } = combine(rows(8, 2, 4, 100)) as TimedRow;
  assertEquals(figures.median_us, 6);
  assertEquals(figures.q1_us, 3);
  assertEquals(figures.tflops, 8 / 6);
  assertEquals(figures.gbps, 4 / 6);
  assertEquals(figures.runs, 4);
});

Deno.test("combine() lets a repeat that failed speak for the case", () => {
  const { figures: _, accuracy: __, ...base } = timedRow("k");
  const failed: FailedRow = { ...base, status: "crash", note: "boom" };
  assertEquals(combine([...rows(1), failed, ...rows(2)]), failed);
});
