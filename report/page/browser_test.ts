import { assertEquals, assertMatch, assertStrictEquals } from "@std/assert";
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
      assertStrictEquals(await shown(page), "All 15 rows");
      assertEquals(await heads(page), [
        "Shape M×N×K",
        "cublas",
        "mine",
        "other",
        "broken",
      ]);

      await page.locator("#filter-suite").selectOption("skinny");
      assertStrictEquals(await shown(page), "12 rows of 15");
      await page.locator("#filter-shape").fill("16x16x* k>=16384");
      await page.getByText("3 rows of 15").waitFor();
      assertEquals(await column(page, 1), ["16×16×16384"]);
      await page.locator("#filter-shape").fill("k>=much");
      assertMatch(
        await page.locator("#shape-wrong").innerText(),
        /compares with no number/,
      );
      await page.locator("#filter-reset").click();
      assertStrictEquals(await shown(page), "All 15 rows");

      await page.getByLabel("other", { exact: true }).uncheck();
      assertStrictEquals(await shown(page), "11 rows of 15");
      assertEquals((await heads(page)).includes("other"), false);
      await page.locator("#kernels-all").click();
      await page.locator("#filter-suite").selectOption("skinny");

      const speedups = async () =>
        (await column(page, 3)).map((text) => text.split("\n").at(-1));
      assertEquals((await speedups())[0], "1.33×");
      await page.locator("#baseline").selectOption("other");
      assertEquals((await speedups())[0], "0.67×");
      assertMatch(
        await page.locator("#summary .lead").innerText(),
        /against other/,
      );
      assertMatch(page.url(), /baseline=other/);

      await page.locator("#view-rows").click();
      const median = (await heads(page)).indexOf("Median µs") + 1;
      await page.locator("#sort-median").click();
      const up = (await column(page, median)).map(Number);
      assertEquals(up, up.toSorted((a, b) => a - b));
      await page.locator("#sort-median").click();
      assertEquals(
        (await column(page, median)).map(Number),
        up.toReversed(),
      );
      assertStrictEquals(
        await page.locator("th:has(#sort-median)").getAttribute("aria-sort"),
        "descending",
      );
      // Only what is within a table or a picture may be wider than the screen.
      assertStrictEquals(
        await page.evaluate("document.documentElement.scrollWidth"),
        look.width,
      );
      assertEquals(opened.requests, []);
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
      assertStrictEquals(await dialog.locator(".note").innerText(), NASTY);
      assertMatch(
        await dialog.locator(".provenance").innerText(),
        /driver\s+580\.1/,
      );
      assertStrictEquals(await page.locator("img").count(), 0);
      await page.locator("#drill-close").click();
      assertStrictEquals(await dialog.isVisible(), false);
      complaints.push(...opened.complaints);
    },
  );
}
