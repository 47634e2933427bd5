import { assertEquals, assertMatch, assertStrictEquals } from "@std/assert";
import { formatReport } from "./report.ts";
import { inBrowser } from "./testdata/browser.ts";
import {
  column,
  DESKTOP,
  heads,
  PHONE,
  ROWS,
  shown,
} from "./testdata/pages.ts";
import { inputOf, row, sweep } from "./testdata/rows.ts";

/** Two suites: ours and peers, and one with libraries alone. */
const SUITES = [
  ...sweep(["cublas", "reference", "mine", "yours"], [16])
    .map((one) => ({ ...one, suite: "skinny" })),
  row({ kernel: "torch-eager", library: "torch 2.11", median_us: "8" }),
  row({ suite: "tuned", kernel: "cublaslt", median_us: "9" }),
  row({ suite: "tuned", kernel: "cublaslt-tuned", median_us: "6" }),
];

inBrowser(
  "has a headline and links for each suite",
  async (browser, complaints) => {
    const html = formatReport(inputOf(SUITES, {
      baselines: { skinny: ["cublas"], tuned: ["cublaslt-tuned", "cublaslt"] },
    }));
    const { page, ...opened } = await browser.open(html, DESKTOP);
    const tiles = page.locator(".tile:has(.name)");
    const texts = (await tiles.allInnerTexts())
      .map((text) => text.split(/\s+/).join(" "));
    // The fastest of ours, not the reference that is slow at each shape.
    assertEquals(texts, [
      "skinny 2.24× the fastest of 3 kernels against the fastest of 2 baselines and peers, geomean over 2 shapes; ahead at 2 Kernels Table Charts",
      "tuned 1.50× cublaslt-tuned against cublaslt, geomean over 1 shape; ahead at 1 Kernels Table Charts",
    ]);
    await page.getByLabel("Table of tuned").click();
    assertStrictEquals(await shown(page), "2 rows of 11");
    assertMatch(page.url(), /#suite=tuned&family=tuned/);
    assertStrictEquals(
      await page.evaluate("document.activeElement.id"),
      "table-title",
    );
    // The heads have the colours of their kernels: no style of heads hides them.
    const [head, kernel] = JSON.parse(
      await page.evaluate(`JSON.stringify(
      [".pivot thead", ".standings tbody tr:last-child"].map((at) =>
        getComputedStyle(document.querySelector(at + " .swatch")).backgroundColor)
    )`),
    );
    assertStrictEquals(head, kernel);
    await page.getByLabel("Charts of tuned").click();
    assertStrictEquals(
      await page.evaluate("document.activeElement.id"),
      "charts-title",
    );
    const link = await page.getByLabel("Charts of tuned").getAttribute("href");
    const again = await browser.open(html, {
      ...DESKTOP,
      hash: link!.slice(1),
    });
    assertEquals(await column(again.page, 1), ["16×16×8192"]);
    await page.locator("#filter-reset").click();
    await page.getByLabel("Kernels of tuned").click();
    assertMatch(
      await page.locator(".standings tbody:target").innerText(),
      /^tuned on Test GPU, against cublaslt-tuned/,
    );
    complaints.push(...opened.complaints, ...again.complaints);
  },
);

inBrowser("offers only choices that are there", async (browser, complaints) => {
  const { page, ...opened } = await browser.open(
    formatReport(inputOf(ROWS)),
    DESKTOP,
  );
  const options = (id: string) => page.locator(`#${id} option`).allInnerTexts();
  const kernels = async () =>
    (await page.locator(".kernels .chip").allInnerTexts())
      .map((text) => text.trim());
  assertEquals(await kernels(), ["cublas", "mine", "other", "broken"]);
  assertEquals((await options("baseline")).slice(1), [
    "cublas",
    "mine",
    "other",
  ]);
  await page.locator("#filter-suite").selectOption("second");
  assertEquals(await kernels(), ["cublas", "mine", "broken"]);
  assertEquals((await options("baseline")).slice(1), ["cublas", "mine"]);
  assertEquals(await options("filter-status"), [
    ...["All outcomes", "any failure", "ok", "wrong"],
  ]);
  await page.locator("#filter-status").selectOption("wrong");
  assertEquals(await kernels(), ["broken"]);
  assertEquals(await options("filter-suite"), ["All suites", "second"]);
  await page.locator("#filter-suite").selectOption("");
  await page.locator("#filter-status").selectOption("");
  await page.locator("#filter-suite").selectOption("skinny");
  assertStrictEquals(await page.locator("#filter-status").count(), 0);
  complaints.push(...opened.complaints);
});

inBrowser(
  "shows one kernel without a baseline by its times",
  async (browser, complaints) => {
    const html = formatReport(inputOf(sweep(["alone"], [16])));
    const { page, ...opened } = await browser.open(html, PHONE);
    const text = async (selector: string) =>
      (await page.locator(selector).first().innerText()).split(/\s+/).join(" ");
    assertStrictEquals(await text(".lead"), "2 rows: alone at 2 shapes.");
    assertStrictEquals(
      await text(".tile"),
      "skinny 20.00 to 22.00 µs alone at 2 shapes reaching 24 % of the speed of light Kernels Table Charts",
    );
    assertStrictEquals(
      await text(".standings tbody tr:last-child"),
      "alone 24 % 20.00 µs 21.00 µs 22.00 µs",
    );
    assertEquals(await column(page, 2), ["20.00\n25 %", "22.00\n23 %"]);
    for (const absent of ["#baseline", ".kernels", ".tag"]) {
      assertStrictEquals(await page.locator(absent).count(), 0, absent);
    }
    const body = await page.locator("main").innerText();
    assertStrictEquals(/baseline|★/.test(body), false);
    complaints.push(...opened.complaints);
  },
);

inBrowser(
  "draws eight kernels, and all on request, with many kernels folded away",
  async (browser, complaints) => {
    const names = Array.from({ length: 11 }, (_, i) => `kernel-${i}`);
    const html = formatReport(
      inputOf(
        sweep(["cublas", ...names.slice(0, 3)], [16])
          .concat(names.slice(3).map((kernel) => row({ kernel }))),
      ),
    );
    const { page, ...opened } = await browser.open(html, PHONE);
    const legend = () => page.locator(".legend li").count();
    // With the speed of light.
    assertStrictEquals(await legend(), 9);
    const before = await page.locator(".legend").innerText();
    assertMatch(before, /cublas/);
    assertStrictEquals(await page.locator(".kernels").isVisible(), false);
    await page.locator("#chart-all").check();
    assertStrictEquals(await legend(), 13);
    assertMatch(page.url(), /all=true/);
    await page.locator(".choice summary").click();
    await page.getByLabel("kernel-1", { exact: true }).uncheck();
    assertStrictEquals(await legend(), 12);
    assertMatch(
      await page.locator(".choice summary").innerText(),
      /11 of\s+12/,
    );
    assertStrictEquals((await heads(page)).includes("kernel-1"), false);
    complaints.push(...opened.complaints);
  },
);
