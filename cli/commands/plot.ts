/**
 * `mnkbench plot`: pictures of recorded rows, as PNG and SVG.
 *
 * @module
 */

import { resolve } from "node:path";
import { object } from "@optique/core/constructs";
import { optional, withDefault } from "@optique/core/modifiers";
import type { InferValue } from "@optique/core/parser";
import { option } from "@optique/core/primitives";
import { onDisk, replaceFile } from "../../bench/files/disk.ts";
import { EXIT, UserError } from "../../bench/model/errors.ts";
import type { Studio } from "../../report/chart/canvas/canvas.ts";
import { ofProgram, typed } from "../../session/home.ts";
import type { Words } from "../../session/options.ts";
import { define } from "../command.ts";
import { about, lists, paths, shown, toggle } from "../options/flags.ts";
import { name, path } from "../options/readers.ts";
import { say, tell } from "../terminal/output.ts";
import { quoted } from "../terminal/command_words.ts";
import type { Album } from "./plot/rows.ts";
import type { Drawn } from "./plot/stale.ts";

type PlotOptions = InferValue<ReturnType<typeof flags>>;

/** `mnkbench plot`. */
export const command = define({
  name: "plot",
  brief: "Draw recorded rows, as PNG and SVG.",
  examples: [
    "plot results/nvidia-h200 --suite epilogue-bf16",
    "plot results --theme dark --out plots --check",
  ],
  codes: {
    0: "the pictures are drawn, or up to date",
    1: "with --check: a picture is stale",
    3: "no row is there, or none has a time",
  },
  flags,
  run: plot,
});

function flags(words: Words) {
  return object("Pictures", {
    paths: paths("PATH", "CSVs, folders or globs (default: results)."),
    suites: lists("--suite", {
      metavar: "NAME",
      words: words.suites,
      what: "Suites (default: all in the rows).",
    }),
    baseline: optional(
      option(
        "--baseline",
        name("NAME", words.kernels),
        about("Kernel that speed-ups are relative to (default: the suite's)."),
      ),
    ),
    theme: withDefault(
      option(
        "--theme",
        shown(["light", "dark"]),
        about("Background; names of dark pictures end in -dark."),
      ),
      "light",
    ),
    out: withDefault(
      option(
        "--out",
        path("DIR"),
        about("Folder of pictures, one below it for each device and suite."),
      ),
      ofProgram("plots"),
    ),
    check: toggle(
      "--check",
      "Write nothing, and list the stale pictures.",
    ),
  });
}

async function plot(options: PlotOptions): Promise<number> {
  const { albumsOf } = await import("./plot/rows.ts");
  const { staleIn } = await import("./plot/stale.ts");
  const { pagesOf } = await import("../../report/chart/parts/pages.ts");
  const albums = await albumsOf(options);
  const studio = await loadStudio();
  let [drawn, stale, there, files] = [0, 0, 0, 0];
  for (const album of albums) {
    const pictures = await picturesOf(album, options);
    drawn += pictures.length;
    if (options.check) {
      const found = staleIn(album.folder, { pictures, studio, ...options });
      for (const line of found.lines) say(line);
      stale += found.lines.length;
      there += found.there;
      files += found.of;
    } else if (pictures.length > 0) {
      const folder = resolve(options.out, album.folder);
      onDisk(folder, () => Deno.mkdirSync(folder, { recursive: true }));
      // While one is compressed the next is drawn; all at once would fill the memory.
      for (const some of pagesOf(pictures, 4)) {
        await Promise.all(some.map((each) => write(each, studio, options)));
      }
      say(
        `${options.out}/${album.folder}: ${pictures.length} pictures, PNG and SVG`,
      );
    }
  }
  if (drawn === 0) {
    throw new UserError(
      "There is nothing to draw: no row has a time; `table` shows what each says",
      EXIT.nothing,
    );
  }
  if (!options.check) return EXIT.ok;
  const left = files - there;
  const without = left === 0
    ? ""
    : `; ${left} files that are not there were not checked`;
  if (stale === 0) say(`${there} files are up to date${without}`);
  else tell(`To draw them anew: ${typed(plotWords(options).join(" "))}`);
  return stale === 0 ? EXIT.ok : EXIT.failed;
}

/** The command of `options`, but that it draws. */
function plotWords(
  { paths, suites, baseline, theme, out }: PlotOptions,
): readonly string[] {
  return [
    "plot",
    ...paths.map(quoted),
    ...suites.map((suite) => `--suite ${suite}`),
    ...(baseline === undefined ? [] : [`--baseline ${baseline}`]),
    ...(theme === "light" ? [] : [`--theme ${theme}`]),
    ...(out === ofProgram("plots") ? [] : [`--out ${quoted(out)}`]),
  ];
}

async function write(
  { path, picture }: Drawn,
  studio: Studio,
  { theme }: PlotOptions,
): Promise<void> {
  const { drawingOf, withDrawing } = await import(
    "../../report/chart/canvas/png.ts"
  );
  const encoded = studio.png(picture, theme);
  const svg = studio.svg(picture, theme);
  const png = withDrawing(await encoded, drawingOf(svg));
  replaceFile(`${path}.svg`, svg);
  replaceFile(`${path}.png`, png);
}

async function picturesOf(
  album: Album,
  options: PlotOptions,
): Promise<readonly Drawn[]> {
  const { plots } = await import("../../report/chart/mod.ts");
  const { plotData } = await import("../../report/chart/parts/data.ts");
  const { optionsOf } = await import("./plot/rows.ts");
  const data = plotData(album.rows, await optionsOf(album, options));
  return Object.entries(plots).flatMap(([name, plot]): Drawn[] => {
    const pictures = plot(data);
    if (typeof pictures === "string") {
      tell(`${album.folder}: no ${name}, since ${pictures}`);
      return [];
    }
    const ending = options.theme === "dark" ? "-dark" : "";
    return pictures.map((picture) => ({
      path: resolve(options.out, album.folder, `${picture.name}${ending}`),
      picture,
    }));
  });
}

/** Loads what pictures are drawn with, and nothing else here does: archives leave it out. */
async function loadStudio(): Promise<Studio> {
  try {
    const { openStudio } = await import(
      "../../report/chart/canvas/canvas.ts"
    );
    return await openStudio();
  } catch (cause) {
    const said = cause instanceof Error ? cause.message : `${cause}`;
    throw new UserError(
      `Cannot load what pictures are drawn with: ${
        said.split(". ")[0]!.split("\n")[0]
      }; copy the CSVs to a checkout with its packages and draw there`,
    );
  }
}
