/**
 * Reads and writes the samples of timed rows: lines of JSON, compressed, beside their CSV.
 *
 * A GPU's timer has a resolution of some nanoseconds, so that samples differ by multiples of a step.
 * A line holds the least time, the step, and the number of steps of each sample above the least:
 * gzip compresses these to 71 % of the size of the times. A series with a sample that is not a whole
 * number of nanoseconds is written as it is (`samples_ns`), as are all in files of version 0.1.
 *
 * @module
 */

import {
  custom,
  type InferOutput,
  is,
  maxValue,
  minValue,
  number,
  object,
  pipe,
  safeInteger,
  string,
  union,
} from "valibot";
import { buffer } from "node:stream/consumers";
import { pipeline } from "node:stream/promises";
import { createGzip } from "node:zlib";
import { readBytesIfThere } from "../files/disk.ts";
import { replaceFile } from "../files/replace.ts";
import { UserError } from "../model/errors.ts";
import { MOST_RUNS } from "../model/settings.ts";
import { mean } from "../measure/stats.ts";
import type { CsvRow } from "./csv_row.ts";
import { caseText, keyText } from "./row.ts";
import { caseKeySchema, keySchema } from "./row_schema.ts";

/** More than any series has. */
const MOST_SAMPLES = 100_000;
/** More than a spreadsheet rounds the means of a CSV, which keeps 15 digits. */
const ROUNDING = 1e-9;
/** A year. */
const MOST_NS = 365 * 24 * 3600e9;

const samplesSchema = object({
  key: keySchema,
  /** The run that they were taken in. */
  run: string(),
  /** From 0. */
  repeat: pipe(number(), safeInteger(), minValue(0), maxValue(MOST_RUNS - 1)),
  /** Nanoseconds, in the order they were taken. */
  samples_ns: custom<readonly number[]>(isSeries),
});

/** A schema for each number would take ten times as long. */
function isSeries(value: unknown): boolean {
  return Array.isArray(value) && value.length <= MOST_SAMPLES &&
    value.every((ns) => typeof ns === "number" && ns > 0 && ns <= MOST_NS);
}

/** The samples of one repeat of a case. */
export type Samples = Readonly<InferOutput<typeof samplesSchema>>;

/** Lines of schema 1 have no timing in their key. */
const anySamplesSchema = union([
  samplesSchema,
  object({ ...samplesSchema.entries, key: caseKeySchema }),
]);

/** A whole number above 0. */
const wholeSchema = pipe(number(), safeInteger(), minValue(1));

/** Stands in a line for `samples_ns`. */
const stepsSchema = object({
  /** Nanoseconds. */
  least_ns: wholeSchema,
  /** Nanoseconds. */
  step_ns: wholeSchema,
  /** Steps above the least, in the order the samples were taken. */
  steps: custom<readonly number[]>((value) =>
    Array.isArray(value) &&
    value.every((count) => Number.isSafeInteger(count) && count >= 0)
  ),
});

/** Formats `samples` as a line, without its line feed. */
export function formatSamples({ samples_ns, ...rest }: Samples): string {
  return JSON.stringify({
    ...rest,
    ...(stepsOf(samples_ns) ?? { samples_ns }),
  });
}

/** Returns the steps of samples; undefined for no samples, or one that is not a whole number. */
function stepsOf(
  samples: readonly number[],
): InferOutput<typeof stepsSchema> | undefined {
  if (samples.length === 0 || !samples.every(Number.isSafeInteger)) {
    return undefined;
  }
  const least_ns = samples.reduce((a, b) => Math.min(a, b));
  const above = samples.map((ns) => ns - least_ns);
  const step_ns = above.reduce((a, b) => divisor(a, b)) || 1;
  return { least_ns, step_ns, steps: above.map((ns) => ns / step_ns) };
}

/** The greatest common divisor. */
function divisor(a: number, b: number): number {
  return b === 0 ? a : divisor(b, a % b);
}

/**
 * Parses a line of {@linkcode formatSamples} or {@linkcode groupSamples}, which are valid.
 *
 * @throws {SyntaxError} For a line that is not JSON.
 */
export function parseSamples(line: string): Samples {
  return parsed(line) as Samples;
}

/** The value of a line, with samples in the place of steps. @throws {SyntaxError} */
function parsed(line: string): unknown {
  // No reviver for numbers that are not finite: it would take longer than all else.
  const value: unknown = JSON.parse(line);
  if (!is(stepsSchema, value)) return value;
  const { least_ns, step_ns, steps, ...rest } = value;
  const samples_ns = steps.map((count) => least_ns + step_ns * count);
  return { ...rest, samples_ns };
}

/**
 * Groups lines by key text; of two of the same repeat, the later counts.
 *
 * @param rows What the lines may be of. A line of schema 1 gets the timing of the row of its
 * case, and is left out where there is none.
 * @throws {SyntaxError} For a line that has no samples, and for lines of a row's run that it was not
 * made of.
 */
export function groupSamples(
  lines: Iterable<string>,
  rows: readonly CsvRow[] = [],
): Map<string, string[]> {
  const timings = new Map(rows.map((row) => [caseText(row), row]));
  const cases = new Map<string, string[]>();
  const found = new Map<string, Found[]>();
  let number = 0;
  for (const line of lines) {
    number++;
    if (line === "") continue;
    const samples = samplesIn(line);
    if (samples === undefined) {
      throw new SyntaxError(`line ${number} has no samples`);
    }
    const { key, repeat } = samples;
    const timing = "timer" in key ? key : timings.get(caseText(key));
    if (timing === undefined) continue;
    const { timer, cache } = timing;
    const full = { ...key, timer, cache };
    const text = keyText(full);
    const repeats = cases.get(text) ?? [];
    repeats[repeat] = timing === key
      ? line
      : formatSamples({ ...samples, key: full });
    cases.set(text, repeats);
    const { run, samples_ns } = samples;
    const own = found.get(text) ?? [];
    own[repeat] = {
      line: number,
      run,
      count: samples_ns.length,
      mean_us: mean(samples_ns) / 1e3,
    };
    found.set(text, own);
  }
  for (const row of rows) refuseOthers(row, found.get(keyText(row)) ?? []);
  return cases;
}

/** Parses a line; nothing where it has no samples. */
function samplesIn(
  line: string,
): InferOutput<typeof anySamplesSchema> | undefined {
  try {
    const value = parsed(line);
    return is(anySamplesSchema, value) ? value : undefined;
  } catch (cause) {
    if (cause instanceof SyntaxError) return undefined;
    throw cause;
  }
}

/** A line of samples. */
interface Found {
  readonly line: number;
  readonly run: string;
  readonly count: number;
  readonly mean_us: number;
}

/**
 * The number of samples of a row is that of one repeat, its mean that of one or of several.
 *
 * @throws {SyntaxError} Where they are of none.
 */
function refuseOthers(row: CsvRow, lines: readonly Found[]): void {
  // A repeat without samples leaves a hole.
  const own = lines.filter((one) => one?.run === row.run);
  const [first] = own;
  if (first === undefined || row.samples === "") return;
  const mean_us = Number(row.mean_us);
  const means = own.map((one) => one.mean_us);
  const slack = ROUNDING * mean_us;
  const fits = own.some(({ count }) => count === Number(row.samples)) &&
    mean_us >= Math.min(...means) - slack &&
    mean_us <= Math.max(...means) + slack;
  if (fits && own.length <= Math.max(1, Number(row.runs))) return;
  throw new SyntaxError(
    `line ${first.line} is of ${row.kernel} at ${row.m}×${row.n}×${row.k}, whose row has ${row.samples} samples with a mean of ${mean_us} µs in ${row.runs} runs, and not these`,
  );
}

/**
 * Reads the lines of a compressed file by key text; empty where there is no file.
 *
 * @param rows Those of the CSV beside it: see {@linkcode groupSamples}.
 * @param remedy What the user can do about a damaged file.
 * @throws {UserError} For a file that is not such a one.
 */
export async function readSamples(
  path: string,
  rows: readonly CsvRow[],
  remedy = "move it away",
): Promise<Map<string, string[]>> {
  const bytes = readBytesIfThere(path);
  if (bytes === undefined) return new Map();
  try {
    return groupSamples((await decompressed(bytes)).split("\n"), rows);
  } catch (cause) {
    if (!(cause instanceof SyntaxError)) throw cause;
    throw new UserError(
      `Cannot read ${path}: ${cause.message}; ${remedy}`,
    );
  }
}

/** @throws {SyntaxError} Where `bytes` are not what gzip wrote, whole and unchanged. */
async function decompressed(bytes: Uint8Array<ArrayBuffer>): Promise<string> {
  const stream = new Blob([bytes]).stream().pipeThrough(
    new DecompressionStream("gzip"),
  );
  try {
    return await new Response(stream).text();
  } catch (cause) {
    const said = cause instanceof Error ? cause.message : `${cause}`;
    throw new SyntaxError(
      `it is not compressed by gzip, or damaged (${said})`,
    );
  }
}

/**
 * Compresses `lines` into the file at `path`, as they come.
 *
 * @throws {UserError} Where the disk refuses; the old file is still there. What `lines` throws is
 * passed on.
 */
export async function writeSamples(
  path: string,
  lines: Iterable<string> | AsyncIterable<string>,
): Promise<void> {
  // CompressionStream has no level: its files are 2 % larger.
  const gzip = createGzip({ level: 9 });
  const [bytes] = await Promise.all([
    buffer(gzip),
    pipeline(pieces(lines), gzip),
  ]);
  replaceFile(path, Uint8Array.from(bytes));
}

/** Characters of a piece: all lines in one text may be more than a text can have. */
const PIECE = 1 << 16;

async function* pieces(
  lines: Iterable<string> | AsyncIterable<string>,
): AsyncGenerator<Uint8Array<ArrayBuffer>> {
  const encoder = new TextEncoder();
  let text = "";
  for await (const line of lines) {
    text += `${line}\n`;
    if (text.length < PIECE) continue;
    yield encoder.encode(text);
    text = "";
  }
  yield encoder.encode(text);
}
