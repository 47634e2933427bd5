import { deepStrictEqual, match, ok, strictEqual } from "node:assert/strict";
import { formatReport } from "./report.ts";
import { inBrowser } from "./testdata/browser.ts";
import { column, DESKTOP, largeReport, ROWS, shown } from "./testdata/pages.ts";
import { inputOf, row } from "./testdata/rows.ts";

inBrowser("is used with the keyboard alone", async (browser, complaints) => {
  const { page, ...opened } = await browser.open(
    formatReport(inputOf(ROWS)),
    DESKTOP,
  );
  const focused = () => page.evaluate("document.activeElement.id");
  await page.keyboard.press("Tab");
  strictEqual(
    await page.evaluate("document.activeElement.textContent"),
    "Summary",
  );
  await page.keyboard.press("Tab");
  await page.keyboard.press("Enter");
  await page.keyboard.press("Tab");
  // From the link to the filters, one step into them.
  ok(`${await focused()}`.match(/^(baseline|filter-)/), `${await focused()}`);

  await page.locator("#sort-mine").focus();
  await page.keyboard.press("Enter");
  strictEqual(await focused(), "sort-mine");
  strictEqual(
    await page.locator("th:has(#sort-mine)").getAttribute("aria-sort"),
    "ascending",
  );

  const cell = page.locator("#table .cell").first();
  await cell.focus();
  const label = await cell.getAttribute("aria-label");
  await page.keyboard.press("Enter");
  strictEqual(await focused(), "drill-close");
  await page.keyboard.press("Escape");
  strictEqual(await page.locator("#drill").isVisible(), false);
  strictEqual(
    await page.evaluate("document.activeElement.getAttribute('aria-label')"),
    label,
  );

  const chart = page.locator(".chart").first();
  await chart.focus();
  await page.keyboard.press("ArrowRight");
  match(
    await chart.locator(".readout").innerText(),
    /K = 8192[^]*other\s+10\.00 µs\s+2\.00×/,
  );
  await page.keyboard.press("End");
  match(await chart.locator(".readout").innerText(), /K = 16384/);
  await page.keyboard.press("Escape");
  strictEqual(await chart.locator(".readout").isVisible(), false);
  complaints.push(...opened.complaints);
});

inBrowser(
  "shows values under the pointer, and the heat map's kernel",
  async (browser, complaints) => {
    const { page, ...opened } = await browser.open(
      formatReport(inputOf(ROWS)),
      { ...DESKTOP, scheme: "dark" },
    );
    await page.locator(".chart svg").first().hover({
      position: { x: 60, y: 100 },
    });
    match(
      await page.locator(".chart .readout").first().innerText(),
      /K = 8192/,
    );
    const cells = page.locator(".heat td .cell");
    match(
      (await cells.first().innerText()).replaceAll("\n", " "),
      /^2\.00× other 10\.00$/,
    );
    await page.locator("#heat-kernel").selectOption("mine");
    match(
      (await cells.first().innerText()).replaceAll("\n", " "),
      /^1\.33× 15\.00$/,
    );
    complaints.push(...opened.complaints);
  },
);

inBrowser(
  "sets two runs side by side with their verdicts",
  async (browser, complaints) => {
    const now = [
      row({ median_us: "12", driver: "590.2" }),
      row({ kernel: "mine", median_us: "8" }),
    ];
    const base = [
      row(),
      row({ kernel: "mine", median_us: "8" }),
      row({ kernel: "gone" }),
    ];
    const html = formatReport(inputOf(now, {
      against: {
        base: { label: "old", rows: base, samples: () => undefined },
        outcomes: [
          { base: 2, verdict: "missing", why: "" },
          { now: 0, base: 0, verdict: "slower", why: "driver 580.1 -> 590.2" },
          { now: 1, base: 1, verdict: "same", why: "" },
        ],
      },
    }));
    const { page, ...opened } = await browser.open(html, DESKTOP);
    deepStrictEqual(await page.locator(".verdicts li").allInnerTexts(), [
      "1 missing",
      "1 slower",
      "1 same",
    ]);
    await page.locator("#verdict-slower").click();
    deepStrictEqual(await column(page, 1), ["slower"]);
    deepStrictEqual(await column(page, 2), ["+20.0 %"]);
    await page.locator("#table .link").click();
    const differs = page.locator(".provenance .differs");
    deepStrictEqual(
      (await differs.allInnerTexts()).map((text) =>
        text.split(/\s+/).join(" ")
      ),
      ["median_us ≠ 12 10", "driver ≠ 590.2 580.1"],
    );
    match(await page.locator("#drill").innerText(), /driver 580\.1 -> 590\.2/);
    complaints.push(...opened.complaints);
  },
);

inBrowser(
  "says how many cases above SOL are in no mean of two runs",
  async (browser, complaints) => {
    const now = [
      row({ median_us: "12" }),
      row({ kernel: "mine", median_us: "8" }),
    ];
    const base = [row(), row({ kernel: "mine", median_us: "4" })];
    const html = formatReport(inputOf(now, {
      against: {
        base: { label: "old", rows: base, samples: () => undefined },
        outcomes: [
          { now: 0, base: 0, verdict: "slower", why: "" },
          { now: 1, base: 1, verdict: "less-accurate", why: "" },
        ],
      },
    }));
    const { page, ...opened } = await browser.open(html, DESKTOP);
    strictEqual(
      await page.locator(".verdicts p").innerText(),
      "Geomean +20.0 % in time, over the 1 case of 2 timed and comparable in both. 1 case above SOL left out.",
    );
    strictEqual(
      await page.evaluate(`(() => {
        const { scrollHeight, clientHeight, scrollWidth, clientWidth } =
          document.querySelector(".scroll:has(> .standings)");
        return scrollHeight > clientHeight || scrollWidth > clientWidth;
      })()`),
      false,
    );
    complaints.push(...opened.complaints);
  },
);

inBrowser("keeps choices in its address", async (browser, complaints) => {
  const { page, ...opened } = await browser.open(
    formatReport(inputOf(ROWS)),
    { ...DESKTOP, hash: "view=rows&suite=second&baseline=mine" },
  );
  strictEqual(await shown(page), "3 rows of 15");
  match(await page.locator("#summary .lead").innerText(), /against mine/);
  await page.getByText("Charts", { exact: true }).first().evaluate(
    "(link) => link.click()",
  );
  strictEqual(await shown(page), "3 rows of 15");
  complaints.push(...opened.complaints);
});

inBrowser(
  "has a page of 10,000 rows at a time, and the first table before the charts",
  async (browser, complaints) => {
    const { page, ...opened } = await browser.open(largeReport(), DESKTOP);
    // Whatever the number of rows: what is drawn at once does not grow with them.
    const drawn = () => page.locator("#table tbody tr").count();
    ok(await drawn() <= 100, `${await drawn()} rows of shapes`);
    const [table, charts] = JSON.parse(
      await page.evaluate(
        `JSON.stringify(["first-table", "first-charts"].map((name) =>
          performance.getEntriesByName(name)[0].startTime))`,
      ),
    );
    ok(table < charts, `table after ${table} ms, charts after ${charts} ms`);
    await page.locator("#view-rows").click();
    strictEqual(await drawn(), 100);
    await page.locator("#page-last").click();
    match(
      await page.locator(".pager").innerText(),
      /9,901 to 10,000 of 10,000 rows/,
    );
    complaints.push(...opened.complaints);
  },
);
