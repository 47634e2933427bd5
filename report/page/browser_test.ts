import { deepStrictEqual, match, strictEqual } from "node:assert/strict";
import { formatReport } from "./report.ts";
import { inBrowser } from "./testdata/browser.ts";
import {
  column,
  DESKTOP,
  heads,
  NASTY,
  PHONE,
  ROWS,
  shown,
} from "./testdata/pages.ts";
import { inputOf } from "./testdata/rows.ts";

for (const look of [DESKTOP, PHONE]) {
  const at = `at ${look.width} pixels`;

  inBrowser(
    `filters, sorts and switches the baseline ${at}`,
    async (browser, complaints) => {
      const opened = await browser.open(formatReport(inputOf(ROWS)), look);
      const { page } = opened;
      strictEqual(await shown(page), "All 15 rows");
      deepStrictEqual(await heads(page), [
        "Shape M×N×K",
        "cublas",
        "mine",
        "other",
        "broken",
      ]);

      await page.locator("#filter-suite").selectOption("skinny");
      strictEqual(await shown(page), "12 rows of 15");
      await page.locator("#filter-shape").fill("16x16x* k>=16384");
      await page.getByText("3 rows of 15").waitFor();
      deepStrictEqual(await column(page, 1), ["16×16×16384"]);
      await page.locator("#filter-shape").fill("k>=much");
      match(
        await page.locator("#shape-wrong").innerText(),
        /compares with no number/,
      );
      await page.locator("#filter-reset").click();
      strictEqual(await shown(page), "All 15 rows");

      await page.getByLabel("other", { exact: true }).uncheck();
      strictEqual(await shown(page), "11 rows of 15");
      deepStrictEqual((await heads(page)).includes("other"), false);
      await page.locator("#kernels-all").click();
      await page.locator("#filter-suite").selectOption("skinny");

      const speedups = async () =>
        (await column(page, 3)).map((text) => text.split("\n").at(-1));
      deepStrictEqual((await speedups())[0], "1.33×");
      await page.locator("#baseline").selectOption("other");
      deepStrictEqual((await speedups())[0], "0.67×");
      match(await page.locator("#summary .lead").innerText(), /against other/);
      match(page.url(), /baseline=other/);

      await page.locator("#view-rows").click();
      const median = (await heads(page)).indexOf("Median µs") + 1;
      await page.locator("#sort-median").click();
      const up = (await column(page, median)).map(Number);
      deepStrictEqual(up, up.toSorted((a, b) => a - b));
      await page.locator("#sort-median").click();
      deepStrictEqual(
        (await column(page, median)).map(Number),
        up.toReversed(),
      );
      strictEqual(
        await page.locator("th:has(#sort-median)").getAttribute("aria-sort"),
        "descending",
      );
      // Only what is within a table or a picture may be wider than the screen.
      strictEqual(
        await page.evaluate("document.documentElement.scrollWidth"),
        look.width,
      );
      deepStrictEqual(opened.requests, []);
      complaints.push(...opened.complaints);
    },
  );

  inBrowser(
    `shows all of a row, and its data as text only, ${at}`,
    async (browser, complaints) => {
      const { page, ...opened } = await browser.open(
        formatReport(inputOf(ROWS)),
        look,
      );
      await page.locator("#table .cell", { hasText: "wrong" }).click();
      const dialog = page.locator("#drill");
      strictEqual(await dialog.locator(".note").innerText(), NASTY);
      match(await dialog.locator(".provenance").innerText(), /driver\s+580\.1/);
      strictEqual(await page.locator("img").count(), 0);
      await page.locator("#drill-close").click();
      strictEqual(await dialog.isVisible(), false);
      complaints.push(...opened.complaints);
    },
  );
}
