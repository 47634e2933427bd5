/**
 * The style of the page.
 *
 * @module
 */

import chart from "./page/chart.css" with { type: "text" };
import dialog from "./page/dialog.css" with { type: "text" };
import filters from "./page/filters.css" with { type: "text" };
import narrow from "./page/narrow.css" with { type: "text" };
import print from "./page/print.css" with { type: "text" };
import base from "./page/style.css" with { type: "text" };
import summary from "./page/summary.css" with { type: "text" };
import table from "./page/table.css" with { type: "text" };

/** The style of the page, but for the colours of kernels. */
export function pageStyle(): string {
  // What is for narrow screens and for paper overrules what is before it.
  return [base, filters, summary, table, chart, dialog, narrow, print].join("");
}
