/**
 * Makes one HTML file of a history: a line for each case over the runs, with marks where its level
 * changed, and who is the fastest at each point since when.
 *
 * @module
 */

import { escapeHtml as escaped, headOf } from "../page/html.ts";
import { formatChange } from "../diff/diff.ts";
import { formatMicroseconds } from "../table/metrics.ts";
import {
  type CaseHistory,
  changeOf,
  type HistoryRun,
  nameOf,
  type PointHistory,
} from "./case_history.ts";

/** The content of the page. */
export interface HistoryInput {
  readonly suites: readonly {
    readonly suite: string;
    readonly points: readonly PointHistory[];
  }[];
  /** In the order of time. */
  readonly runs: readonly HistoryRun[];
  /** The name of the history. */
  readonly source: string;
}

const STYLE = `
:root { font: 14px/1.4 system-ui, sans-serif; background: var(--paper); color: var(--ink); }
body { margin: 1rem auto; max-width: 75rem; padding: 0 1rem; }
form { display: flex; flex-wrap: wrap; gap: 1rem; margin: 1rem 0; }
table { border-collapse: collapse; width: 100%; margin-bottom: 1.5rem; }
caption { text-align: left; font-weight: 600; padding: .3rem 0; }
caption span { font-weight: 400; }
th, td { text-align: left; padding: .15rem .5rem; border-top: 1px solid var(--grid); vertical-align: middle; }
td.number { text-align: right; font-variant-numeric: tabular-nums; white-space: nowrap; }
svg { display: block; width: 26rem; max-width: 45vw; height: 2.2rem; }
polyline { stroke-linecap: round; fill: none; stroke: var(--faster); stroke-width: 1.5; vector-effect: non-scaling-stroke; }
line { stroke: var(--slower); stroke-width: 1.5; vector-effect: non-scaling-stroke; }
.slower { color: color-mix(in srgb, var(--slower), var(--ink) 30%); }
.faster { color: color-mix(in srgb, var(--faster), var(--ink) 30%); }
[hidden] { display: none; }
`;

/** Shows what the filters leave, and says how many cases. */
const SCRIPT = `
const form = document.querySelector("form");
function apply() {
  const wanted = Object.fromEntries(new FormData(form));
  for (const part of document.querySelectorAll("section")) {
    part.hidden = Boolean(wanted.suite) && part.dataset.suite !== wanted.suite;
  }
  let shown = 0;
  for (const row of document.querySelectorAll("tbody tr")) {
    row.hidden = Boolean(wanted.kernel) && row.dataset.kernel !== wanted.kernel ||
      Boolean(wanted.change) && row.dataset.change === "" ||
      !row.dataset.text.includes(wanted.text.trim().toLowerCase());
    if (!row.hidden && !row.closest("section").hidden) shown++;
  }
  for (const table of document.querySelectorAll("table")) {
    table.hidden = !table.querySelector("tbody tr:not([hidden])");
  }
  document.querySelector("output").textContent =
    shown === 1 ? "1 case" : shown + " cases";
}
form.addEventListener("input", apply);
form.addEventListener("submit", (event) => event.preventDefault());
apply();
`;

/** Returns the text of the file: the same for the same input. It needs nothing else to be read. */
export function formatHistory(
  { suites, runs, source }: HistoryInput,
): string {
  const places = new Map(runs.map((run, i) => [run.id, { run, i }]));
  const kernels = new Set(
    suites.flatMap(({ points }) =>
      points.flatMap(({ cases }) => cases.map(({ row }) => row.kernel))
    ),
  );
  const options = (names: Iterable<string>) =>
    [...names].map((name) => `<option>${escaped(name)}</option>`).join("");
  const title = `History of ${source}`;
  return `${headOf({ title, style: STYLE, script: SCRIPT })}<body>
<h1>${escaped(title)}</h1>
<p>${runs.length} runs${
    runs.length > 0 ? `, ${dayOf(runs[0]!)} to ${dayOf(runs.at(-1)!)}` : ""
  }. An orange line marks a change of level; times are of the last level.</p>
<form>
<label>Suite <select name="suite"><option value="">all</option>${
    options(suites.map(({ suite }) => suite))
  }</select></label>
<label>Kernel <select name="kernel"><option value="">all</option>${
    options([...kernels].toSorted())
  }</select></label>
<label><input type="checkbox" name="change"> changed only</label>
<label>Point or device <input name="text"></label>
<output></output>
</form>
${
    suites.map(({ suite, points }) =>
      `<section data-suite="${escaped(suite)}">
<h2>${escaped(suite)}</h2>
${points.map((point) => tableOf(point, places)).join("\n")}
</section>`
    ).join("\n")
  }
<script>${SCRIPT}</script>
</body>
</html>
`;
}

/** The place of each run in time. */
type Places = ReadonlyMap<
  number,
  { readonly run: HistoryRun; readonly i: number }
>;

function tableOf(
  { label, device, cases, leaders }: PointHistory,
  places: Places,
): string {
  const last = leaders.at(-1);
  const fastest = last === undefined
    ? ""
    : `: fastest is ${last.kernel} since ${
      nameOf(places.get(last.run)!.run, last.source)
    }${leaders.length > 1 ? `, before that ${leaders.at(-2)!.kernel}` : ""}`;
  return `<table>
<caption>${escaped(label)} on ${escaped(device)}<span>${
    escaped(fastest)
  }</span></caption>
<tbody>
${cases.map((one) => lineOf(one, places)).join("\n")}
</tbody>
</table>`;
}

function lineOf(one: CaseHistory, places: Places): string {
  const { row, label, timed, levels, last } = one;
  const now = levels.at(-1);
  const change = changeOf(one);
  const kind = change === undefined ? "" : change > 0 ? "slower" : "faster";
  const since = now && timed[now.from]!;
  const cells = [
    `<td>${escaped(row.kernel)}</td>`,
    `<td>${pictureOf(one, places)}</td>`,
    `<td class="number">${
      now ? `${formatMicroseconds(now.center)} µs` : ""
    }</td>`,
    `<td class="${kind}">${
      change === undefined ? "" : formatChange(change)
    }</td>`,
    `<td>${
      since
        ? `since ${escaped(nameOf(places.get(since.run)!.run, since.source))}`
        : ""
    }${last === "ok" ? "" : ` ${escaped(last)} in its last run`}</td>`,
  ];
  const text = `${label} ${row.device}`.toLowerCase();
  return `<tr data-kernel="${
    escaped(row.kernel)
  }" data-change="${kind}" data-text="${escaped(text)}">${cells.join("")}</tr>`;
}

/** The share of the times that a picture has above and below them. */
const ROOM = 1.05;
/** Units of a picture, which is as wide as all runs. */
const [WIDTH, HEIGHT, MARGIN] = [1000, 60, 4];

function pictureOf(
  { row, timed, levels }: CaseHistory,
  places: Places,
): string {
  if (timed.length === 0) return "";
  const times = timed.map(({ median_us }) => median_us);
  const [low, high] = [Math.min(...times), Math.max(...times)];
  // Noise must not look like a change.
  const [bottom, top] = [low / ROOM, high * ROOM];
  const steps = Math.max(1, places.size - 1);
  const x = (at: number) =>
    Math.round(places.get(timed[at]!.run)!.i * WIDTH / steps);
  const y = (us: number) =>
    Math.round(
      MARGIN + (HEIGHT - 2 * MARGIN) * (top - us) / (top - bottom),
    );
  const points = times.map((us, i) => `${x(i)},${y(us)}`).join(" ");
  // A line of no length is drawn as a dot.
  const more = times.length === 1 ? ` ${points}` : "";
  const marks = levels.slice(1).map(({ from }) =>
    `<line x1="${x(from)}" x2="${x(from)}" y1="0" y2="${HEIGHT}"/>`
  ).join("");
  const title = `${row.kernel}: ${timed.length} runs, ${
    formatMicroseconds(low)
  } to ${formatMicroseconds(high)} µs`;
  return `<svg viewBox="0 0 ${WIDTH} ${HEIGHT}" preserveAspectRatio="none" role="img"><title>${
    escaped(title)
  }</title>${marks}<polyline points="${points}${more}"/></svg>`;
}

function dayOf({ time }: HistoryRun): string {
  return escaped(time.slice(0, 10));
}
