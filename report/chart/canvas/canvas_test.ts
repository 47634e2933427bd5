import {
  deepStrictEqual,
  notStrictEqual,
  ok,
  strictEqual,
} from "node:assert/strict";
import { openStudio, type Picture } from "./canvas.ts";
import { type PlotData, plotData } from "../parts/data.ts";
import { plots } from "../mod.ts";
import { CALIBRATION, plotRows, samplesOf } from "../../testdata/plot_rows.ts";
import { textsOf } from "../../testdata/texts.ts";

function dataOf(theme: "light" | "dark" = "light"): PlotData {
  return plotData(plotRows(), {
    theme,
    title: "A · B in bf16, fp32 accumulation",
    baselines: ["cublas", "cublaslt"],
    calibration: CALIBRATION,
    samples: samplesOf,
  });
}

function picturesOf(data: PlotData): readonly Picture[] {
  return Object.values(plots).flatMap((plot) => {
    const pictures = plot(data);
    return typeof pictures === "string" ? [] : pictures;
  });
}

const NAMES = [
  ...["overview", "speedup", "geomean", "lead", "fastest"],
  ...["latency-mn16", "latency-mn32", "latency-mn48", "latency-mn64"],
  ...["panels", "roofline", "samples"],
];

Deno.test("plots draw every picture of a suite, each with a name of its own", () => {
  deepStrictEqual(picturesOf(dataOf()).map(({ name }) => name), NAMES);
});

Deno.test("openStudio() draws the same rows to the same bytes, in any order", async () => {
  const studio = await openStudio();
  const other = plotData(plotRows().reverse(), { ...dataOf() });
  // Kernels stand in the order of the rows, but nothing else may depend on it.
  const reversed = { ...other, kernels: dataOf().kernels };
  const again = picturesOf(reversed);
  for (const [i, picture] of picturesOf(dataOf()).entries()) {
    const bytes = async (each: Picture) => ({
      svg: studio.svg(each, "light"),
      png: (await studio.png(each, "light")).toBase64(),
    });
    const [one, two] = [await bytes(picture), await bytes(again[i]!)];
    // Not strictEqual(): nobody wants to see how two such texts differ.
    ok(one.svg === two.svg, `${picture.name}.svg`);
    ok(one.png === two.png, `${picture.name}.png`);
  }
});

Deno.test("openStudio() writes SVG without text, links or other fonts", async () => {
  const studio = await openStudio();
  for (const picture of picturesOf(dataOf())) {
    const svg = studio.svg(picture, "light");
    strictEqual(/<text|font-family|href="(?!#)|<image/.test(svg), false);
    ok(svg.startsWith("<?xml"), picture.name);
    const ids = [...svg.matchAll(/<path id="(\w+)"/g)].map(([, id]) => id);
    const used = [...svg.matchAll(/href="#(\w+)"/g)].map(([, id]) => id);
    deepStrictEqual(new Set(used), new Set(ids));
    ok(used.length > 20, picture.name);
  }
});

Deno.test("openStudio() draws light and dark on papers of their own", async () => {
  const studio = await openStudio();
  const [light] = picturesOf(dataOf());
  const [dark] = picturesOf(dataOf("dark"));
  const paper = (svg: string) => /<rect fill="([^"]+)"/.exec(svg)![1];
  strictEqual(paper(studio.svg(light!, "light")), "white");
  notStrictEqual(paper(studio.svg(dark!, "dark")), "white");
});

for (const picture of picturesOf(dataOf())) {
  Deno.test(`${picture.name} cuts no text off and sets none over another`, async () => {
    await openStudio();
    const texts = await textsOf(picture);
    ok(texts.length > 10);
    const { width, height } = picture;
    deepStrictEqual(
      texts.filter(({ left, right, top, bottom }) =>
        left < 0 || top < 0 || right > width || bottom > height
      ),
      [],
    );
    const over = texts.flatMap((a, i) =>
      texts.slice(i + 1).filter((b) =>
        a.left < b.right - 0.5 && b.left < a.right - 0.5 &&
        a.top < b.bottom - 0.5 && b.top < a.bottom - 0.5
      ).map((b) => [a.text, b.text])
    );
    deepStrictEqual(over, []);
  });
}

Deno.test("speedup says the status of every case without a time", async () => {
  await openStudio();
  const data = dataOf();
  const [map] = plots.speedup!(data) as readonly Picture[];
  const texts = (await textsOf(map!)).map(({ text }) => text);
  const count = (word: string) => texts.filter((text) => text === word).length;
  deepStrictEqual(
    ["unsupported", "timeout", "wrong", "no row"].map(count),
    [28, 4, 7, 1],
  );
});

Deno.test("every picture has the device and the rows' date", async () => {
  await openStudio();
  for (const picture of picturesOf(dataOf())) {
    const texts = (await textsOf(picture)).map(({ text }) => text);
    ok(
      texts.includes("NVIDIA H200 · sm_90a · driver 580.1 · 2026-01-02"),
      picture.name,
    );
  }
});
