/// <reference lib="dom" />
/**
 * The samples of a row: every one in the order it was taken, or how they are spread.
 *
 * @module
 */

import { valueAxis } from "../chart_frame.ts";
import { type Child, el, svg } from "../dom.ts";
import type { Entry } from "../entry.ts";
import { valueScale } from "../scale.ts";
import type { Table } from "../table.ts";
import { microseconds } from "../text.ts";
import { lookOf, type View } from "./view.ts";

/** As wide as the room: what is scaled down on a phone could not be read. */
function roomOf(): number {
  return Math.max(300, Math.min(700, innerWidth - 40));
}

const EDGE = { left: 46, right: 12 };
const STRIP = 64;
const SERIES = 180;

interface Shown {
  readonly table: Table;
  readonly row: number;
  readonly color: string;
}

/** The samples of `entry` in both runs, on one axis. */
export function drawSamples(view: View, entry: Entry): Child {
  const { book } = view;
  const { color } = lookOf(view, entry.kernel);
  const runs: Shown[] = [];
  if (entry.now !== undefined) {
    runs.push({ table: book.now, row: entry.now, color });
  }
  if (entry.base !== undefined && book.base) {
    runs.push({ table: book.base, row: entry.base, color: "var(--dim)" });
  }
  const timed = runs.filter(({ table, row }) =>
    spreadOf(table, row).length > 0
  );
  if (timed.length === 0) return undefined;
  const ordered = timed.filter(({ table, row }) => table.samples(row));
  return el(
    "section",
    { class: "samples", "aria-label": "Samples" },
    el("h3", {}, "Samples"),
    strips(timed, { named: book.base !== undefined }),
    ordered.map((run) => series(run)),
    el("p", { class: "hint" }, caption(timed[0]!, ordered.length > 0)),
  );
}

/** Quantiles in microseconds, from what the page was given. */
function spreadOf(table: Table, row: number): readonly number[] {
  const samples = table.samples(row)?.toSorted((a, b) => a - b);
  if (samples) return samples;
  const quantiles = table.quantiles(row);
  if (quantiles) return quantiles;
  const known = ["min_us", "q1_us", "median_us", "q3_us"]
    .map((column) => table.number(column, row));
  return known.filter((value) => value !== undefined);
}

function caption({ table, row }: Shown, ordered: boolean): string {
  const many = table.text("samples", row);
  if (ordered) {
    const kept = table.samples(row)?.length ?? 0;
    return `All ${kept} samples in µs, in the order they were taken.`;
  }
  const quantiles = table.quantiles(row);
  return quantiles
    ? `${quantiles.length} evenly spread quantiles of ${many} samples in µs, the least and the greatest among them; the bar is from quartile to quartile, the long tick the median.`
    : `Least, quartiles and median of ${many} samples in µs: no samples were kept beside the CSV.`;
}

function strips(
  runs: readonly Shown[],
  { named }: { readonly named: boolean },
): Node {
  const all = runs.map((run) => ({
    run,
    values: spreadOf(run.table, run.row),
  }));
  const width = roomOf();
  const height = STRIP * runs.length + 24;
  const x = valueScale(all.flatMap(({ values }) => values), {
    from: EDGE.left,
    to: width - EDGE.right,
    log: false,
  });
  return svg(
    "svg",
    {
      viewBox: `0 0 ${width} ${height}`,
      role: "img",
      "aria-label": all.map(({ run, values }) =>
        `${run.table.label}: ${microseconds(values[0])} to ${
          microseconds(values.at(-1))
        } microseconds`
      ).join("; "),
    },
    svg(
      "g",
      { class: "axes" },
      x.ticks.map((tick) => [
        svg("line", {
          x1: x.at(tick),
          x2: x.at(tick),
          y1: 4,
          y2: height - 20,
        }),
        svg("text", {
          x: x.at(tick),
          y: height - 5,
          "text-anchor": "middle",
        }, `${tick}`),
      ]),
    ),
    all.map(({ run, values }, i) => {
      const middle = STRIP * (i + 0.5) + (named ? 6 : 0);
      const figure = (column: string) => run.table.number(column, run.row);
      const [q1, median, q3] = ["q1_us", "median_us", "q3_us"].map(figure);
      return svg(
        "g",
        { class: "strip", vars: { "--color": run.color } },
        named
          ? svg("text", { x: EDGE.left, y: middle - 22 }, run.table.label)
          : undefined,
        q1 === undefined || q3 === undefined ? undefined : svg("rect", {
          x: x.at(q1),
          width: Math.max(1, x.at(q3) - x.at(q1)),
          y: middle - 8,
          height: 16,
        }),
        values.map((value) =>
          svg("line", {
            x1: x.at(value),
            x2: x.at(value),
            y1: middle - 11,
            y2: middle + 11,
          })
        ),
        median === undefined ? undefined : svg("line", {
          class: "median",
          x1: x.at(median),
          x2: x.at(median),
          y1: middle - 17,
          y2: middle + 17,
        }),
      );
    }),
  );
}

/** Samples over their order: drift and modes are seen here only. */
function series({ table, row, color }: Shown): Node {
  const width = roomOf();
  const values = table.samples(row) ?? [];
  const y = valueScale(values, { from: SERIES - 20, to: 10, log: false });
  const step = (width - EDGE.left - EDGE.right) /
    Math.max(1, values.length - 1);
  return svg(
    "svg",
    {
      viewBox: `0 0 ${width} ${SERIES}`,
      role: "img",
      "aria-label":
        `${values.length} samples of ${table.label} in the order they were taken`,
    },
    svg(
      "g",
      { class: "axes" },
      valueAxis(y, { left: EDGE.left, right: width - EDGE.right }),
      svg("text", {
        x: width - EDGE.right,
        y: SERIES - 4,
        "text-anchor": "end",
      }, `${table.label}: sample 1 to ${values.length}`),
    ),
    svg("path", {
      class: "dots",
      vars: { "--color": color },
      d: values.map((value, i) =>
        `M${(EDGE.left + i * step).toFixed(1)},${y.at(value).toFixed(1)}h0`
      ).join(""),
    }),
  );
}
