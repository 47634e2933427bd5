/**
 * The style of the page.
 *
 * @module
 */

import chart from "./browser/chart.css" with { type: "text" };
import dialog from "./browser/dialog.css" with { type: "text" };
import filters from "./browser/filters.css" with { type: "text" };
import narrow from "./browser/narrow.css" with { type: "text" };
import print from "./browser/print.css" with { type: "text" };
import base from "./browser/style.css" with { type: "text" };
import summary from "./browser/summary.css" with { type: "text" };
import table from "./browser/table.css" with { type: "text" };

/** The style of the page, but for the colours of kernels. */
export function pageStyle(): string {
  // What is for narrow screens and for paper overrules what is before it.
  return [base, filters, summary, table, chart, dialog, narrow, print].join("");
}
