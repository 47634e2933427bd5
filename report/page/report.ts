/**
 * Makes one HTML file of rows that needs nothing else: no network, no server, no other file.
 *
 * @module
 */

import { gzipSync } from "node:zlib";
import { quantile } from "../../bench/measure/stats.ts";
import type { CsvRow } from "../../bench/row/csv_row.ts";
import { COLUMNS } from "../../bench/row/row.ts";
import content from "./browser/content.css" with { type: "text" };
import details from "./browser/details.css" with { type: "text" };
import style from "./browser/style.css" with { type: "text" };
import { escapeHtml, headOf } from "./html.ts";
import type { EncodedPair, EncodedRun, PageData } from "./browser/book.ts";
import script from "./bundle.js" with { type: "text" };

/** The rows of a run, and what was kept of their samples. */
export interface RunInput {
  /** The name of the run beside the other. */
  readonly label: string;
  readonly rows: readonly CsvRow[];
  /** Returns the nanoseconds of the row at an index. */
  readonly samples: (row: number) => readonly number[] | undefined;
}

/** A case of either run, and its verdict. */
export interface Outcome {
  /** Indices of rows; missing where that run has none. */
  readonly now?: number;
  readonly base?: number;
  readonly verdict: string;
  /** Why, and the likely cause; empty where the figures say all. */
  readonly why: string;
}

/** The content of a report. */
export interface ReportInput {
  readonly now: RunInput;
  /** The other run, and every case of the two. */
  readonly against?: {
    readonly base: RunInput;
    readonly outcomes: readonly Outcome[];
  };
  /** Kernels that speed-ups are relative to, the preferred first, by suite; `""` is any other. */
  readonly baselines: Readonly<Record<string, readonly string[]>>;
  /** The names of the files that the rows were read from. */
  readonly sources: readonly string[];
}

/** Quantiles that stand for the samples of a row. */
const QUANTILES = 16;

const STYLES = [style, content, details].join("");

/** Returns the text of the file: the same for the same input. */
export function formatReport(input: ReportInput): string {
  const title = titleOf(input);
  return `${headOf({ title, style: STYLES, script })}<body>
<nav class="skip" aria-label="Skip">
<a href="#summary">Summary</a>
<a href="#filters">Filters</a>
<a href="#table-title">Table</a>
<a href="#charts-title">Charts</a>
</nav>
<header class="top">
<h1>${escapeHtml(title)}</h1>
</header>
<noscript><p>This page draws its tables with a script, which is switched off here. The figures are in the CSVs: ${
    escapeHtml(input.sources.join(", "))
  }.</p></noscript>
<main>
<section id="summary" tabindex="-1" aria-label="Summary"></section>
<section id="filters" tabindex="-1" aria-label="Baseline and filters"></section>
<p id="shown" role="status"></p>
<section id="table" aria-labelledby="table-title"></section>
<section id="charts" aria-labelledby="charts-title"></section>
</main>
<footer><p>Made from ${
    escapeHtml(input.sources.join(", "))
  } by mnkbench report. Figures are as recorded; speed-ups are computed here.</p></footer>
<dialog id="drill" aria-labelledby="drill-title"></dialog>
<script type="text/plain" id="data">${
    gzipSync(JSON.stringify(pageDataOf(input))).toString("base64")
  }</script>
<script>${script}</script>
</body>
</html>
`;
}

/** Returns what the page is given. */
export function pageDataOf(input: ReportInput): PageData {
  const { now, against, baselines } = input;
  return {
    run: encodeRun(now),
    ...(against && {
      against: encodeRun(against.base),
      pairs: against.outcomes.map(
        ({ now = -1, base = -1, verdict, why }): EncodedPair => [
          ...[now, base] as const,
          ...[verdict, why] as const,
        ],
      ),
    }),
    baselines,
  };
}

function encodeRun({ label, rows, samples }: RunInput): EncodedRun {
  const series = rows.map((_, at) => {
    const own = samples(at) ?? [];
    return own.length === 0 ? [] : stepsOf(quantilesOf(own));
  });
  const columns = COLUMNS
    .filter((column) => rows.some((row) => row[column] !== ""))
    .map((column) => [column, rows.map((row) => row[column])] as const);
  return {
    label,
    rows: rows.length,
    columns: Object.fromEntries(columns),
    ...(series.some((own) => own.length > 0) && { series }),
  };
}

/** Returns the least, the greatest and those evenly between, {@linkcode QUANTILES} in all. */
function quantilesOf(samples: readonly number[]): number[] {
  const sorted = samples.toSorted((a, b) => a - b);
  return Array.from(
    { length: QUANTILES },
    (_, i) => quantile(sorted, i / (QUANTILES - 1)),
  );
}

/** Returns whole nanoseconds as the first and the steps from one to the next. */
function stepsOf(values: readonly number[]): number[] {
  const whole = values.map(Math.round);
  return whole.map((value, i) => value - (whole[i - 1] ?? 0));
}

function titleOf({ now, against }: ReportInput): string {
  const named = (column: "suite" | "device", many: string) => {
    const values = [...new Set(now.rows.map((row) => row[column]))];
    return values.length === 1 ? values[0]! : `${values.length} ${many}`;
  };
  const title = `${named("suite", "suites")} on ${named("device", "devices")}`;
  return against
    ? `${title}: ${now.label} against ${against.base.label}`
    : title;
}
