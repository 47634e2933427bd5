/**
 * Measures how long a report takes in Chromium until its first table is drawn: five times,
 * and their median. Without a path, of a made-up report of 10,000 rows.
 *
 * deno run -A tools/first_table.ts [report.html]
 *
 * @module
 */

import { median } from "../bench/measure/stats.ts";
import { Shown } from "../report/page/testdata/browser.ts";
import { DESKTOP, largeReport } from "../report/page/testdata/pages.ts";

const [path] = Deno.args;
const html = path === undefined ? largeReport() : Deno.readTextFileSync(path);
const times: number[] = [];
for (let turn = 0; turn < 5; turn++) {
  await using browser = await Shown.start();
  const { page } = await browser.open(html, DESKTOP);
  times.push(
    Number(
      await page.evaluate(
        "performance.getEntriesByName('first-table')[0].startTime",
      ),
    ),
  );
}
const text = times.map((ms) => ms.toFixed(0)).join(", ");
console.log(`median ${median(times).toFixed(0)} ms of ${text}`);
