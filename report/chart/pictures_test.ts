import {
  assert,
  assertEquals,
  assertMatch,
  assertStrictEquals,
} from "@std/assert";
import type { CsvRow } from "../../bench/row/csv_row.ts";
import { CALIBRATION, plotRows, samplesOf } from "../testdata/plot_rows.ts";
import { csvRow } from "../testdata/csv_rows.ts";
import { textsOf } from "../testdata/texts.ts";
import { type ChartData, chartData } from "./data.ts";
import type { Picture } from "./frame.ts";
import { plots } from "./mod.ts";
import { openStudio } from "./studio.ts";

function dataOf(
  theme: "light" | "dark" = "light",
  rows: readonly CsvRow[] = plotRows(),
): ChartData {
  return chartData(rows, {
    theme,
    title: "A · B in bf16, fp32 accumulation",
    baselines: ["cublas", "cublaslt", "k0", "kernel-0"],
    calibration: CALIBRATION,
    samples: samplesOf,
  });
}

function picturesOf(data: ChartData): readonly Picture[] {
  return Object.values(plots).flatMap((plot) => {
    const pictures = plot(data);
    return typeof pictures === "string" ? [] : pictures;
  });
}

const NAMES = [
  ...["overview", "speedup", "geomean", "lead", "fastest"],
  ...["roofline", "samples"],
];

Deno.test("plots draw every picture of a suite, each with a name of its own", () => {
  assertEquals(picturesOf(dataOf()).map(({ name }) => name), NAMES);
});

Deno.test("plots leave out pictures that would not be read, and say so", () => {
  const [first] = plotRows();
  const rows = Array.from({ length: 6000 }, (_, i) => ({
    ...first!,
    kernel: `k${i % 20}`,
    m: `${1 + Math.floor(i / 20)}`,
  }));
  const said = Object.entries(plots).map(([name, plot]) => {
    const made = plot(dataOf("light", rows));
    return typeof made === "string" ? made : name;
  });
  assertMatch(said[0]!, /^\d+ × \d+ pixels would not be read$/);
  assertEquals(said[2], "geomean");
  assertEquals(said[5], "6000 dots would not be read");
  const many = rows.slice(0, 201).map((row, i) => ({
    ...row,
    kernel: `k${i}`,
  }));
  for (const plot of Object.values(plots)) {
    assertEquals(
      plot(dataOf("light", many)),
      "201 kernels would not be told apart",
    );
  }
});

Deno.test("openStudio() draws the same rows to the same bytes, in any order", async () => {
  const studio = await openStudio();
  const other = dataOf("light", plotRows().reverse());
  // Kernels stand in the order of the rows, but nothing else may depend on it.
  const again = picturesOf({ ...other, kernels: dataOf().kernels });
  for (const [i, picture] of picturesOf(dataOf()).entries()) {
    const bytes = async (each: Picture) => {
      const svg = studio.svg(each, "light");
      const png = await studio.png(each, "light", svg);
      assert(studio.isOf(svg, png));
      assertStrictEquals(studio.isOf(`${svg} `, png), false);
      return { svg, png: png.toBase64() };
    };
    const [one, two] = [await bytes(picture), await bytes(again[i]!)];
    // Not assertStrictEquals(): nobody wants to see how two such texts differ.
    assert(one.svg === two.svg, `${picture.name}.svg`);
    assert(one.png === two.png, `${picture.name}.png`);
  }
});

Deno.test("openStudio() writes small SVG with its words as text, that needs no other file", async () => {
  const studio = await openStudio();
  for (const picture of picturesOf(dataOf())) {
    const svg = studio.svg(picture, "light");
    const found = [...svg.matchAll(/<text [^>]*>([^<]*)<\/text>/g)]
      .map(([, text]) =>
        text!.replaceAll("&lt;", "<").replaceAll("&amp;", "&")
      );
    const written = (await textsOf(picture)).map(({ text }) => text);
    assertEquals(written.filter((text) => !found.includes(text)), []);
    const odd = /.{0,20}(href="|url\((?!#)|<image|\d\.\d{3}|&apos;).{0,9}/;
    assertStrictEquals(odd.exec(svg.replaceAll(/>[^<]*</g, "><")), null);
    assertMatch(svg, /font-family="[^"]*DejaVu[^"]*, sans-serif"/);
    const { width, height } = picture;
    assertMatch(svg, new RegExp(`viewBox="0 0 ${width} ${height}"`));
    assertMatch(svg, /<title id="title">[^<]*: A · B in bf16, fp32 accum/);
    assertMatch(svg, /<desc id="desc">[^<]{60,}<\/desc>/);
    assert(svg.length < 60_000, `${picture.name}: ${svg.length}`);
  }
});

Deno.test("plots split what would be a large file into several pictures", async () => {
  const studio = await openStudio();
  const [first] = plotRows();
  const rows = Array.from({ length: 6 * 160 }, (_, i) => {
    const [kernel, k] = [`kernel-${i % 6}`, `${64 + Math.floor(i / 6)}`];
    const median_us = `${10 + i % 7}`;
    return { ...first!, kernel, m: "16", n: "16", k, median_us };
  });
  const { speedup } = plots;
  const pictures = speedup!(dataOf("light", rows)) as readonly Picture[];
  assertEquals(pictures.map(({ name }) => name), [
    ...["speedup", "speedup-2", "speedup-3"],
  ]);
  const shapes = await Promise.all(pictures.map(async (picture) => {
    assert(studio.svg(picture, "light").length < 60_000);
    const texts = await textsOf(picture);
    return texts.filter(({ text }) => /^\d+×16×\d+$/.test(text)).length;
  }));
  assertEquals(shapes, [54, 54, 52]);
});

Deno.test("openStudio() draws light and dark on papers of their own", async () => {
  const studio = await openStudio();
  const [light] = picturesOf(dataOf());
  const [dark] = picturesOf(dataOf("dark"));
  const paper = (svg: string) => /\.k0\{fill:([^}]+)\}/.exec(svg)![1];
  assertStrictEquals(paper(studio.svg(light!, "light")), "#ffffff");
  assertStrictEquals(paper(studio.svg(dark!, "dark")), "#14181d");
});

for (const picture of picturesOf(dataOf())) {
  Deno.test(`${picture.name} cuts no text off and sets none over another`, async () => {
    await openStudio();
    const texts = await textsOf(picture);
    assert(texts.length > 10);
    const { width, height } = picture;
    assertEquals(
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
    assertEquals(over, []);
  });
}

Deno.test("speedup says the status of every case without a time", async () => {
  await openStudio();
  const data = dataOf();
  const [map] = plots.speedup!(data) as readonly Picture[];
  const texts = (await textsOf(map!)).map(({ text }) => text);
  const count = (word: string) => texts.filter((text) => text === word).length;
  assertEquals(
    ["unsupported", "timeout", "wrong", "no row"].map(count),
    // The kernel that is unsupported at all 28 shapes has no line.
    [0, 4, 7, 1],
  );
});

Deno.test("every picture has the device and the rows' date", async () => {
  await openStudio();
  for (const picture of picturesOf(dataOf())) {
    const texts = (await textsOf(picture)).map(({ text }) => text);
    assert(
      texts.includes("NVIDIA H200 · sm_90a · driver 580.1 · 2026-01-02"),
      picture.name,
    );
  }
});

Deno.test("pictures count what differs between rows", async () => {
  await openStudio();
  const rows = [
    csvRow({ k: "1", harness: "0.2" }),
    csvRow({ k: "2", harness: "0.3", flush: "read", driver: "581" }),
  ];
  const data = chartData(rows, { theme: "light", baselines: [] });
  const [picture] = plots.overview!(data) as readonly Picture[];
  const texts = (await textsOf(picture!)).map(({ text }) => text);
  assertMatch(texts.join("\n"), / · 2 drivers · /);
  assertMatch(texts.join("\n"), / · 2 flushes · 2 versions of mnkbench$/m);
});

Deno.test("overview has eight kernels at most, the fastest among them, and none that runs nowhere", async () => {
  await openStudio();
  const rows = Array.from(
    { length: 14 },
    (_, i) =>
      [1, 2].map((k) =>
        csvRow({ kernel: `kernel-${i}`, k: `${k}`, median_us: `${i + 1}` })
      ),
  ).flat();
  const none = csvRow({
    kernel: "nowhere",
    status: "unsupported",
    median_us: "",
  });
  const named = async (only: readonly string[]) => {
    const data = chartData([...rows, none], {
      theme: "light",
      baselines: ["kernel-13"],
      only,
    });
    const [picture] = plots.overview!(data) as readonly Picture[];
    const texts = (await textsOf(picture!)).map(({ text }) => text);
    return {
      kernels: texts.filter((text) => /^(kernel-|nowhere)/.test(text)),
      note: texts.find((text) => text.startsWith("Median of")),
    };
  };
  const { kernels, note } = await named([]);
  assertEquals(kernels, [
    ...Array.from({ length: 7 }, (_, i) => `kernel-${i}`),
    "kernel-13",
  ]);
  assertMatch(
    note!,
    /the baseline and the fastest of ours and of the peers, 8 of 14 kernels/,
  );
  const all = Array.from({ length: 12 }, (_, i) => `kernel-${i}`);
  assertEquals((await named(all)).kernels, all);
});

Deno.test("overview stacks crosses as its legend lists kernels", async () => {
  const studio = await openStudio();
  const rows = ["cublas", "mine", "yours"].flatMap((kernel) =>
    ["1", "2"].map((k) =>
      csvRow({
        kernel,
        k,
        median_us: "5",
        ...(k === "2" && { status: "crash", median_us: "" }),
      })
    )
  );
  const data = chartData(rows, { theme: "light" });
  const [picture] = plots.overview!(data) as readonly Picture[];
  const svg = studio.svg(picture!, "light");
  const heights = data.kernels.map((kernel) => {
    const { color } = data.looks.get(kernel)!;
    const [, name] = new RegExp(
      `\\.(\\w+)\\{fill:none;stroke:${color};stroke-width:1.6\\}`,
    ).exec(svg)!;
    const path = new RegExp(`class="${name}"[^>]* d="M[\\d.]+ ([\\d.]+)`);
    return Number(path.exec(svg)![1]);
  });
  assertEquals(heights, heights.toSorted((a, b) => a - b));
  assertStrictEquals(new Set(heights).size, 3);
});

Deno.test("samples says what drift is, and which is within noise", async () => {
  await openStudio();
  const rows = plotRows().filter(({ kernel }) => kernel === "cublas");
  const [picture] = plots.samples!(dataOf("light", rows)) as readonly Picture[];
  const texts = (await textsOf(picture!)).map(({ text }) => text);
  const sentence = texts.find((text) => text.startsWith("Drift is"));
  assertMatch(sentence!, /first quarter .* last.* 2 % .* 5 standard errors/);
  assert(texts.some((text) => /^drift [+−][\d.]+ %/.test(text)));
  assert(texts.some((text) => /^[+−][\d.]+ % within noise$/.test(text)));
});

Deno.test("chartData() draws a kernel in one colour, whichever others are in the picture", () => {
  const rows = ["cublas", "mine", "yours", "theirs"]
    .map((kernel) => csvRow({ kernel }));
  const others = rows.map(({ kernel }) => kernel);
  const all = chartData(rows, { theme: "light", others });
  for (const row of rows) {
    const { looks } = chartData([row], { theme: "light", others });
    assertEquals(looks.get(row.kernel), all.looks.get(row.kernel));
  }
});
