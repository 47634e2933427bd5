import {
  assert,
  assertEquals,
  assertMatch,
  assertStrictEquals,
} from "@std/assert";
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
  assertStrictEquals(
    await page.evaluate("document.activeElement.textContent"),
    "Summary",
  );
  await page.keyboard.press("Tab");
  await page.keyboard.press("Enter");
  await page.keyboard.press("Tab");
  // From the link to the filters, one step into them.
  assert(
    `${await focused()}`.match(/^(baseline|filter-)/),
    `${await focused()}`,
  );

  await page.locator("#sort-mine").focus();
  await page.keyboard.press("Enter");
  assertStrictEquals(await focused(), "sort-mine");
  assertStrictEquals(
    await page.locator("th:has(#sort-mine)").getAttribute("aria-sort"),
    "ascending",
  );

  const cell = page.locator("#table .cell").first();
  await cell.focus();
  const label = await cell.getAttribute("aria-label");
  await page.keyboard.press("Enter");
  assertStrictEquals(await focused(), "drill-close");
  await page.keyboard.press("Escape");
  assertStrictEquals(await page.locator("#drill").isVisible(), false);
  assertStrictEquals(
    await page.evaluate("document.activeElement.getAttribute('aria-label')"),
    label,
  );

  const chart = page.locator(".chart").first();
  await chart.focus();
  await page.keyboard.press("ArrowRight");
  assertMatch(
    await chart.locator(".readout").innerText(),
    /K = 8192[^]*other\s+10\.00 µs\s+2\.00×/,
  );
  await page.keyboard.press("End");
  assertMatch(await chart.locator(".readout").innerText(), /K = 16384/);
  await page.keyboard.press("Escape");
  assertStrictEquals(await chart.locator(".readout").isVisible(), false);
  complaints.push(...opened.complaints);
});

inBrowser(
  "draws charts by canvas, with values under the pointer",
  async (browser, complaints) => {
    const { page, ...opened } = await browser.open(
      formatReport(inputOf(ROWS)),
      { ...DESKTOP, scheme: "dark" },
    );
    const chart = page.locator(".chart").first();
    const canvas = chart.locator("canvas");
    assertMatch(
      (await canvas.getAttribute("aria-label"))!,
      /^Median latency in microseconds over K, M=N=16$/,
    );
    await canvas.hover({ position: { x: 60, y: 100 } });
    assertMatch(await chart.locator(".readout").innerText(), /K = 8192/);
    assertStrictEquals(await chart.locator(".guide").isVisible(), true);
    const pixels = `(() => {
      const { width, height } = document.querySelector(".chart canvas");
      const pen = document.querySelector(".chart canvas").getContext("2d");
      const { data } = pen.getImageData(0, 0, width, height);
      return [
        [...data.slice(0, 4)].join(),
        new Set(new Uint32Array(data.buffer)).size,
      ].join(" ");
    })()`;
    const read = async () => `${await page.evaluate(pixels)}`.split(" ");
    const [dark, colors] = await read();
    // More than the paper: axes, curves and marks in colours of their own.
    assert(Number(colors) > 20, colors);
    assertStrictEquals(dark, "20,24,29,255");
    await page.evaluate("window.old = document.querySelector('.chart canvas')");
    await page.emulateMedia({ colorScheme: "light" });
    // Not waitForFunction(): the page's policy forbids what it evaluates.
    for (let left = 100; left > 0; left--) {
      if (!await page.evaluate("document.contains(window.old)")) break;
      await page.waitForTimeout(20);
    }
    assertStrictEquals((await read())[0], "255,255,255,255");
    await page.locator("#chart-log").check();
    assertStrictEquals(await page.locator(".chart canvas").count(), 2);
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
    assertEquals(await page.locator(".verdicts li").allInnerTexts(), [
      "1 missing",
      "1 slower",
      "1 same",
    ]);
    await page.locator("#verdict-slower").click();
    assertEquals(await column(page, 1), ["slower"]);
    assertEquals(await column(page, 2), ["+20.0 %"]);
    await page.locator("#table .link").click();
    const differs = page.locator(".provenance .differs");
    assertEquals(
      (await differs.allInnerTexts()).map((text) =>
        text.split(/\s+/).join(" ")
      ),
      ["median_us ≠ 12 10", "driver ≠ 590.2 580.1"],
    );
    assertMatch(
      await page.locator("#drill").innerText(),
      /driver 580\.1 -> 590\.2/,
    );
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
    assertStrictEquals(
      await page.locator(".verdicts p").innerText(),
      "Geomean +20.0 % in time, over the 1 case of 2 timed and comparable in both. 1 suspect case left out.",
    );
    assertStrictEquals(
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
  assertStrictEquals(await shown(page), "3 rows of 15");
  assertMatch(await page.locator("#summary .lead").innerText(), /against mine/);
  await page.getByText("Charts", { exact: true }).first().evaluate(
    "(link) => link.click()",
  );
  assertStrictEquals(await shown(page), "3 rows of 15");
  complaints.push(...opened.complaints);
});

inBrowser(
  "has a page of 10,000 rows at a time, and the first table before the charts",
  async (browser, complaints) => {
    const { page, ...opened } = await browser.open(largeReport(), DESKTOP);
    // Whatever the number of rows: what is drawn at once does not grow with them.
    const drawn = () => page.locator("#table tbody tr").count();
    assert(await drawn() <= 100, `${await drawn()} rows of shapes`);
    const [table, charts] = JSON.parse(
      await page.evaluate(
        `JSON.stringify(["first-table", "first-charts"].map((name) =>
          performance.getEntriesByName(name)[0].startTime))`,
      ),
    );
    assert(
      table < charts,
      `table after ${table} ms, charts after ${charts} ms`,
    );
    await page.locator("#view-rows").click();
    assertStrictEquals(await drawn(), 100);
    await page.locator("#page-last").click();
    assertMatch(
      await page.locator(".pager").innerText(),
      /9,901 to 10,000 of 10,000 rows/,
    );
    complaints.push(...opened.complaints);
  },
);
