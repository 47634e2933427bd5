import { assertEquals, assertMatch, assertStrictEquals } from "@std/assert";
import { chartData } from "../chart/data.ts";
import type { Picture } from "../chart/frame.ts";
import { plots } from "../chart/mod.ts";
import { openStudio } from "../chart/studio.ts";
import { CALIBRATION, plotRows, samplesOf } from "../testdata/plot_rows.ts";
import { textsOf } from "../testdata/texts.ts";
import { formatReport } from "./report.ts";
import { inBrowser } from "./testdata/browser.ts";
import { DESKTOP } from "./testdata/pages.ts";
import { inputOf } from "./testdata/rows.ts";

const DATA = chartData(plotRows(), {
  theme: "light",
  title: "A\u00a0·\u00a0B, somebody's <own> & others'",
  baselines: ["cublas"],
  calibration: CALIBRATION,
  samples: samplesOf,
});

inBrowser(
  "shows SVG files with text to select",
  async (browser, complaints) => {
    const studio = await openStudio();
    for (const plot of Object.values(plots)) {
      const [picture] = plot(DATA) as readonly Picture[];
      const svg = studio.svg(picture!, "light");
      const { page, ...opened } = await browser.openFile("a.svg", svg, DESKTOP);
      const { title, desc, all, outside } = JSON.parse(
        await page.evaluate(`(() => {
        const of = (name) => document.querySelector(name).textContent;
        const { width, height } = document.documentElement.viewBox.baseVal;
        const all = [...document.querySelectorAll("text")];
        const outside = all.filter((text) => {
          const { left, top, right, bottom } = text.getBoundingClientRect();
          // Another typeface may be a little wider.
          return left < -9 || top < -9 || right > width + 9 || bottom > height + 9;
        });
        getSelection().selectAllChildren(document.documentElement);
        const texts = (some) => some.map(({ textContent }) => textContent);
        return JSON.stringify({
          title: of("title"), desc: of("desc"),
          all: texts(all), outside: texts(outside),
        });
      })()`),
      );
      assertMatch(title, /: A\u00a0·\u00a0B, somebody's <own> & others'$/);
      assertMatch(desc, /NVIDIA H200/);
      assertEquals(outside, [], picture!.name);
      const written = (await textsOf(picture!)).map(({ text }) => text);
      assertEquals(written.filter((text) => !all.includes(text)), []);
      complaints.push(...opened.complaints);
    }
  },
);

inBrowser(
  "draws kernels in the colours of pictures",
  async (browser, complaints) => {
    const report = formatReport(inputOf(plotRows()));
    const { page, ...opened } = await browser.open(report, DESKTOP);
    const swatches: [string, string][] = JSON.parse(
      await page.evaluate(`JSON.stringify(
      [...document.querySelectorAll(".kernels .chip")].map((chip) => [
        chip.textContent.trim(),
        getComputedStyle(chip.querySelector(".swatch")).backgroundColor,
      ])
    )`),
    );
    assertStrictEquals(swatches.length, DATA.looks.size);
    for (const [kernel, color] of swatches) {
      const { color: drawn } = DATA.looks.get(kernel)!;
      const channels = [1, 3, 5].map((at) =>
        parseInt(drawn.slice(at, at + 2), 16)
      );
      assertStrictEquals(color, `rgb(${channels.join(", ")})`, kernel);
    }
    complaints.push(...opened.complaints);
  },
);
