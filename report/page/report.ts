/**
 * Rows as one HTML file that needs nothing else: no network, no server, no other file.
 *
 * @module
 */

import { createHash } from "node:crypto";
import {
  ACCURACY_COLUMNS,
  FIGURE_COLUMNS,
  KEY_COLUMNS,
  OUTCOME_COLUMNS,
  PLACE_COLUMNS,
  PROVENANCE_COLUMNS,
} from "../../bench/row/row.ts";
import { paletteOf } from "../chart/canvas/palette.ts";
import { escapeHtml, scriptJson } from "./escape.ts";
import { encodeColumn, encodeRun, type RunInput } from "./encode.ts";
import type { EncodedLook, PageData } from "./browser/page_data.ts";
import script from "./bundle.js" with { type: "text" };
import { pageStyle } from "./style.ts";

/** A case of either run, and what became of it. */
export interface Outcome {
  /** Indices of rows; nothing where that run has none. */
  readonly now?: number;
  readonly base?: number;
  readonly verdict: string;
  /** Why, and the likely cause; empty where the figures say all. */
  readonly why: string;
}

/** What a report is made of. */
export interface ReportInput {
  readonly now: RunInput;
  /** The other run, and every case of the two. */
  readonly against?: {
    readonly base: RunInput;
    readonly outcomes: readonly Outcome[];
  };
  /** Kernels that speed-ups are relative to, the preferred first, by suite; `""` is any other. */
  readonly baselines: Readonly<Record<string, readonly string[]>>;
  /** Whether every sample goes along, and not only quantiles. */
  readonly allSamples: boolean;
  /** What the rows were read from. */
  readonly sources: readonly string[];
}

const GROUPS = {
  Outcome: OUTCOME_COLUMNS,
  Figures: FIGURE_COLUMNS,
  Accuracy: ACCURACY_COLUMNS,
  Provenance: PROVENANCE_COLUMNS,
  Case: KEY_COLUMNS,
  Place: PLACE_COLUMNS,
};

/** The text of the file: the same for the same input. */
export function formatReport(input: ReportInput): string {
  const title = titleOf(input);
  const styles = `${pageStyle()}${colors(kernelsOf(input))}`;
  const policy = [
    "default-src 'none'",
    "img-src data:",
    `style-src '${digest(styles)}'`,
    `script-src '${digest(script)}'`,
    "base-uri 'none'",
    "form-action 'none'",
  ].join("; ");
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="generator" content="mnkbench">
<link rel="icon" href="data:,">
<title>${escapeHtml(title)}</title>
<style>${styles}</style>
</head>
<body>
<nav class="skip" aria-label="Skip">
<a href="#summary">Summary</a>
<a href="#baseline">Filters</a>
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
<section id="filters" aria-label="Baseline and filters"></section>
<p id="shown" role="status"></p>
<section id="table" aria-labelledby="table-title"></section>
<section id="charts" aria-labelledby="charts-title"></section>
</main>
<footer><p>Made from ${
    escapeHtml(input.sources.join(", "))
  } by mnkbench report. Figures are as recorded; speed-ups are computed here.</p></footer>
<dialog id="drill" aria-labelledby="drill-title"></dialog>
<script type="application/json" id="data">${
    scriptJson(pageDataOf(input))
  }</script>
<script>${script}</script>
</body>
</html>
`;
}

/** What the page is given. */
export function pageDataOf(input: ReportInput): PageData {
  const { now, against, baselines, allSamples } = input;
  const options = { all: allSamples };
  const outcomes = against?.outcomes;
  return {
    run: encodeRun(now, options),
    ...(against && { against: encodeRun(against.base, options) }),
    ...(outcomes && {
      pairs: {
        now: outcomes.map((outcome) => outcome.now ?? -1),
        base: outcomes.map((outcome) => outcome.base ?? -1),
        verdict: encodeColumn(outcomes.map(({ verdict }) => verdict)),
        why: encodeColumn(outcomes.map(({ why }) => why)),
      },
    }),
    baselines,
    looks: looksOf(kernelsOf(input)),
    groups: GROUPS,
  };
}

function kernelsOf({ now, against }: ReportInput): string[] {
  const rows = [now.rows, against?.base.rows ?? []].flat();
  return [...new Set(rows.map(({ kernel }) => kernel))];
}

function looksOf(kernels: readonly string[]): Record<string, EncodedLook> {
  const looks = paletteOf(kernels, "light");
  return Object.fromEntries(kernels.map((name, i) => [
    name,
    { color: `--k${i}`, mark: looks.get(name)!.mark },
  ]));
}

/** The colours of kernels as the variables that {@linkcode looksOf} names. */
function colors(kernels: readonly string[]): string {
  const list = (theme: "light" | "dark") => {
    const looks = paletteOf(kernels, theme);
    return kernels.map((name, i) => `--k${i}:${looks.get(name)!.color}`)
      .join(";");
  };
  return `:root{${
    list("light")
  }}@media screen and (prefers-color-scheme:dark){:root{${list("dark")}}}`;
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

function digest(text: string): string {
  return `sha256-${createHash("sha256").update(text).digest("base64")}`;
}
