/**
 * The script of the page, linked from its modules.
 *
 * @module
 */

import { link } from "./link.ts";
import chart_frame from "./page/chart_frame.ts" with { type: "text" };
import chart_probe from "./page/chart_probe.ts" with { type: "text" };
import charts_view from "./page/charts_view.ts" with { type: "text" };
import columns from "./page/columns.ts" with { type: "text" };
import compare from "./page/compare.ts" with { type: "text" };
import dom from "./page/dom.ts" with { type: "text" };
import drill_view from "./page/drill_view.ts" with { type: "text" };
import entry from "./page/entry.ts" with { type: "text" };
import filter from "./page/filter.ts" with { type: "text" };
import filters_view from "./page/filters_view.ts" with { type: "text" };
import heat_view from "./page/heat_view.ts" with { type: "text" };
import labels from "./page/labels.ts" with { type: "text" };
import light from "./page/light.ts" with { type: "text" };
import line_chart from "./page/line_chart.ts" with { type: "text" };
import main from "./page/main.ts" with { type: "text" };
import marks from "./page/marks.ts" with { type: "text" };
import notes_view from "./page/notes_view.ts" with { type: "text" };
import pager_view from "./page/pager_view.ts" with { type: "text" };
import panels from "./page/panels.ts" with { type: "text" };
import passport_view from "./page/passport_view.ts" with { type: "text" };
import pivot from "./page/pivot.ts" with { type: "text" };
import pivot_view from "./page/pivot_view.ts" with { type: "text" };
import provenance from "./page/provenance.ts" with { type: "text" };
import readout_view from "./page/readout_view.ts" with { type: "text" };
import rows_view from "./page/rows_view.ts" with { type: "text" };
import samples_view from "./page/samples_view.ts" with { type: "text" };
import scale from "./page/scale.ts" with { type: "text" };
import sort_view from "./page/sort_view.ts" with { type: "text" };
import standings_view from "./page/standings_view.ts" with { type: "text" };
import state from "./page/state.ts" with { type: "text" };
import summary_view from "./page/summary_view.ts" with { type: "text" };
import table from "./page/table.ts" with { type: "text" };
import text from "./page/text.ts" with { type: "text" };
import tiles_view from "./page/tiles_view.ts" with { type: "text" };
import verdicts from "./page/verdicts.ts" with { type: "text" };
import verdicts_view from "./page/verdicts_view.ts" with { type: "text" };
import view from "./page/view.ts" with { type: "text" };

const MODULES: Readonly<Record<string, string>> = {
  chart_frame,
  chart_probe,
  charts_view,
  columns,
  compare,
  dom,
  drill_view,
  entry,
  filter,
  filters_view,
  heat_view,
  labels,
  light,
  line_chart,
  main,
  marks,
  notes_view,
  pager_view,
  panels,
  passport_view,
  pivot,
  pivot_view,
  provenance,
  readout_view,
  rows_view,
  samples_view,
  scale,
  sort_view,
  standings_view,
  state,
  summary_view,
  table,
  text,
  tiles_view,
  verdicts,
  verdicts_view,
  view,
};

/** The script of the page. */
export function pageScript(): string {
  return link(MODULES, "main");
}
