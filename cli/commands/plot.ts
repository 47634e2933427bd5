/**
 * `mnkbench plot`: pictures of recorded rows, as PNG and SVG.
 *
 * @module
 */

import { join, resolve } from "node:path";
import { object } from "@optique/core/constructs";
import type { InferValue } from "@optique/core/parser";
import {
  onDisk,
  readable,
  readBytesIfThere,
  readIfThere,
  unlessMissing,
} from "../../bench/files/disk.ts";
import { contained, replaceFile } from "../../bench/files/replace.ts";
import { EXIT, UserError } from "../../bench/model/errors.ts";
import type { Picture } from "../../report/chart/frame.ts";
import type { Plot } from "../../report/chart/mod.ts";
import type { Studio } from "../../report/chart/studio.ts";
import { quoted, typed } from "../../session/home.ts";
import { BRIEFS, define } from "../command.ts";
import {
  lists,
  maybe,
  paths,
  preset,
  shown,
  shownCache,
  shownTimer,
  toggle,
  type Words,
} from "../options/flags.ts";
import { name, path } from "../options/readers.ts";
import { BASELINE } from "../options/baseline.ts";
import { USUAL } from "../options/usual_paths.ts";
import { logLine, printLine } from "../terminal/output.ts";
import type { Album } from "./plot/albums.ts";

type PlotOptions = InferValue<ReturnType<typeof flags>>;

/** `mnkbench plot`. */
export const command = define({
  name: "plot",
  brief: BRIEFS.plot,
  examples: [
    "plot --suite epilogue-bf16 --kernel cublas,cluster-k",
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
    paths: paths("PATH", `CSVs, folders or globs (default: ${USUAL}).`),
    suites: lists("--suite", {
      metavar: "NAME",
      words: words.suites,
      what: "Suites, or files of your own (default: all in the rows).",
    }),
    kernels: lists("--kernel", {
      metavar: "NAME",
      words: words.kernels,
      what:
        "Kernels, all in every picture (default: all; in overview, the fastest 8).",
    }),
    baseline: maybe(
      "--baseline",
      name("NAME", words.kernels),
      BASELINE,
    ),
    timer: shownTimer(),
    cache: shownCache(),
    theme: preset(
      "--theme",
      shown(["light", "dark"]),
      "Background; names of dark pictures end in -dark.",
      "light",
    ),
    out: preset(
      "--out",
      path("DIR"),
      "Folder of pictures, one below it for each device and suite.",
      "plots",
    ),
    check: toggle(
      "--check",
      "Write nothing, and list the stale pictures.",
    ),
  });
}

function folderOf({ folder }: Album, { out }: PlotOptions): string {
  return contained(resolve(out), folder);
}

/** Pictures that are drawn before the first is written. */
const AT_ONCE = 4;

async function plot(options: PlotOptions): Promise<number> {
  const { studio, plots } = await loadDrawing();
  const { albumsOf } = await import("./plot/albums.ts");
  const checked: Checked[] = [];
  let drawn = 0;
  for await (const album of albumsOf(options)) {
    const pictures = picturesOf(album, plots, options);
    drawn += pictures.length;
    const folder = folderOf(album, options);
    if (options.check) {
      checked.push(check(folder, { pictures, studio, options }));
    } else if (pictures.length > 0) {
      onDisk(folder, () => Deno.mkdirSync(folder, { recursive: true }));
      // While one is compressed the next is drawn; all at once would fill the memory.
      for (let at = 0; at < pictures.length; at += AT_ONCE) {
        const some = pictures.slice(at, at + AT_ONCE);
        await Promise.all(some.map((each) => write(each, studio, options)));
      }
      printLine(
        `${options.out}/${album.folder}: ${pictures.length} pictures, PNG and SVG`,
      );
    }
  }
  if (drawn === 0) {
    throw new UserError(
      "There is nothing to draw: no row has a time, or there are too many for a picture; `table` shows what each says",
      EXIT.nothing,
    );
  }
  return options.check ? verdictOf(checked, options) : EXIT.ok;
}

/** The pictures of a folder against those that would be drawn. */
interface Checked {
  /** A line for each file that is stale or of no row, and one where there is no file at all. */
  readonly lines: readonly string[];
  /** Files that are there, of those that the rows have. */
  readonly there: number;
  readonly of: number;
}

/** Prints the stale files. @returns The exit code. */
function verdictOf(checked: readonly Checked[], options: PlotOptions): number {
  for (const line of checked.flatMap(({ lines }) => lines)) printLine(line);
  if (checked.some(({ lines }) => lines.length > 0)) {
    logLine(`To draw them anew: ${typed(plotWords(options).join(" "))}`);
    return EXIT.failed;
  }
  const there = checked.reduce((sum, one) => sum + one.there, 0);
  const left = checked.reduce((sum, one) => sum + one.of, 0) - there;
  const without = left === 0
    ? ""
    : `; ${left} files that are not there were not checked`;
  printLine(`${there} files are up to date${without}`);
  return EXIT.ok;
}

/** The command of `options`, but that it draws. */
function plotWords(
  { paths, suites, kernels, baseline, timer, cache, theme, out }: PlotOptions,
): readonly string[] {
  return [
    "plot",
    ...paths.map(quoted),
    ...suites.map((suite) => `--suite ${quoted(suite)}`),
    ...kernels.map((kernel) => `--kernel ${quoted(kernel)}`),
    ...(baseline === undefined ? [] : [`--baseline ${baseline}`]),
    ...(timer === undefined ? [] : [`--timer ${timer}`]),
    ...(cache === undefined ? [] : [`--cache ${cache}`]),
    ...(theme === "light" ? [] : [`--theme ${theme}`]),
    ...(out === "plots" ? [] : [`--out ${quoted(out)}`]),
  ];
}

/** A picture, and the path of its files without their endings. */
interface Drawn {
  readonly path: string;
  readonly picture: Picture;
}

async function write(
  { path, picture }: Drawn,
  studio: Studio,
  { theme }: PlotOptions,
): Promise<void> {
  const svg = studio.svg(picture, theme);
  const png = studio.png(picture, theme, svg);
  replaceFile(`${path}.svg`, svg);
  replaceFile(`${path}.png`, await png);
}

function picturesOf(
  album: Album,
  plots: Readonly<Record<string, Plot>>,
  options: PlotOptions,
): Drawn[] {
  const { folder, data } = album;
  const out = folderOf(album, options);
  return Object.entries(plots).flatMap(([name, plot]): Drawn[] => {
    const pictures = plot(data);
    if (typeof pictures === "string") {
      logLine(`${folder}: ${name} is not drawn: ${pictures}`);
      return [];
    }
    const ending = options.theme === "dark" ? "-dark" : "";
    return pictures.map((picture) => ({
      path: contained(out, `${picture.name}${ending}`),
      picture,
    }));
  });
}

/**
 * Compares the files of `folder` with what would be drawn. A file that is not there is not
 * stale, as some keep only a few pictures; a folder without any is.
 *
 * An SVG is compared byte for byte; a PNG by the drawing that it says it is of, since another
 * machine's rasteriser may round a pixel elsewhere.
 */
function check(
  folder: string,
  { pictures, studio, options: { theme } }: {
    readonly pictures: readonly Drawn[];
    readonly studio: Studio;
    readonly options: PlotOptions;
  },
): Checked {
  const lines: string[] = [];
  let there = 0;
  const expected = new Set<string>();
  for (const { path, picture } of pictures) {
    const [vector, raster] = [`${path}.svg`, `${path}.png`];
    expected.add(vector).add(raster);
    const svg = studio.svg(picture, theme);
    const [text, bytes] = [readIfThere(vector), readBytesIfThere(raster)];
    there += [text, bytes].filter((found) => found !== undefined).length;
    if (text !== undefined && text !== svg) lines.push(`stale    ${vector}`);
    if (bytes && !studio.isOf(svg, bytes)) lines.push(`stale    ${raster}`);
  }
  for (const file of filesIn(folder, theme)) {
    if (!expected.has(file)) lines.push(`of no row, delete it  ${file}`);
  }
  if (there === 0 && expected.size > 0) {
    lines.push(`missing  ${folder}, of which no picture is there`);
  }
  return { lines, there, of: expected.size };
}

/** Returns the files of pictures of a theme in `folder`. */
function filesIn(folder: string, theme: string): string[] {
  const entries = readable(
    folder,
    () => unlessMissing(() => [...Deno.readDirSync(folder)]),
  ) ?? [];
  return entries.map(({ name }) => name)
    .filter((name) => /\.(png|svg)$/.test(name))
    .filter((name) => /-dark\.\w+$/.test(name) === (theme === "dark"))
    .toSorted().map((name) => join(folder, name));
}

/** Loads what pictures are drawn with, and nothing else here does: archives leave it out. */
async function loadDrawing(): Promise<{
  readonly studio: Studio;
  readonly plots: Readonly<Record<string, Plot>>;
}> {
  try {
    const { openStudio } = await import("../../report/chart/studio.ts");
    const { plots } = await import("../../report/chart/mod.ts");
    return { studio: await openStudio(), plots };
  } catch (cause) {
    const said = cause instanceof Error ? cause.message : `${cause}`;
    throw new UserError(
      `Cannot load what pictures are drawn with: ${
        said.split(". ")[0]!.split("\n")[0]
      }; copy the CSVs to a checkout with its packages and draw there`,
    );
  }
}
