/**
 * A page with two suites and a failure, and what tests read of it.
 *
 * @module
 */

import type { Page } from "playwright-core";
import { formatReport } from "../report.ts";
import { inputOf, row, sweep } from "./rows.ts";

/** Sizes of screens, in CSS pixels. */
export const DESKTOP = { width: 1280, height: 900 };
/** A phone held upright. */
export const PHONE = { width: 390, height: 844 };

/** Text that would change the page if it were read as HTML. */
export const NASTY = `</script><img src=x onerror="alert('1')"> & "quotes"`;

/** Fifteen rows. */
export const ROWS = [
  ...sweep(["cublas", "mine", "other"], [16, 32]),
  row({ suite: "second", m: "8", kernel: "cublas" }),
  row({ suite: "second", m: "8", kernel: "mine", median_us: "20" }),
  row({
    suite: "second",
    m: "8",
    kernel: "broken",
    status: "wrong",
    median_us: "",
    note: NASTY,
  }),
];

/** The heads of the table. */
export const heads = (page: Page) =>
  page.locator("#table thead th").allInnerTexts().then((texts) =>
    texts.map((text) => text.replace(/ [↑↓]$/, ""))
  );

/** The texts of a column, from 1. */
export const column = (page: Page, at: number) =>
  page.locator(`#table tbody tr > :nth-child(${at})`).allInnerTexts();

/** The text about the filters. */
export const shown = (page: Page) => page.locator("#shown").innerText();

/** The page of 10,000 rows, of which each has a hundred samples. */
export function largeReport(): string {
  const rows = Array.from({ length: 10_000 }, (_, i) =>
    row({
      kernel: `kernel-${i % 7}`,
      k: `${64 * (1 + Math.floor(i / 7))}`,
      median_us: `${10 + (i * 7919) % 1000 / 7}`,
    }));
  const samples = Array.from(
    { length: 100 },
    (_, i) => 10_000 + (i * 37) % 100,
  );
  return formatReport(inputOf(rows, {
    now: { label: "new", rows, samples: () => samples },
  }));
}
