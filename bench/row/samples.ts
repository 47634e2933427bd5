/**
 * Reads and writes the samples of timed rows: lines of JSON, compressed, beside their CSV.
 *
 * @module
 */

import {
  array,
  type InferOutput,
  minValue,
  number,
  object,
  pipe,
  readonly,
  safeInteger,
  string,
} from "valibot";
import { readBytesIfThere, replaceFile } from "../files/disk.ts";
import { UserError } from "../model/errors.ts";
import { jsonIn } from "../files/json_file.ts";
import { keyText } from "./row.ts";
import { keySchema } from "./row_schema.ts";

const samplesSchema = object({
  key: keySchema,
  /** The run that they were taken in. */
  run: string(),
  /** From 0. */
  repeat: pipe(number(), safeInteger(), minValue(0)),
  /** Nanoseconds, in the order they were taken. */
  samples_ns: pipe(array(number()), readonly()),
});

/** The samples of one repeat of a case. */
export type Samples = Readonly<InferOutput<typeof samplesSchema>>;

/** Formats `samples` as a line, without its line feed. */
export function formatSamples(samples: Samples): string {
  return JSON.stringify(samples);
}

/** Parses a line of {@linkcode formatSamples}; nothing where it is something else. */
export function samplesIn(line: string): Samples | undefined {
  return jsonIn(samplesSchema, line);
}

/**
 * Groups lines by key text; of two of the same repeat, the later counts.
 *
 * @throws {SyntaxError} For a line that has no samples.
 */
export function groupSamples(lines: Iterable<string>): Map<string, string[]> {
  const cases = new Map<string, string[]>();
  let number = 0;
  for (const line of lines) {
    number++;
    if (line === "") continue;
    const samples = samplesIn(line);
    if (samples === undefined) {
      throw new SyntaxError(`line ${number} has no samples`);
    }
    const { key, repeat } = samples;
    const text = keyText(key);
    const repeats = cases.get(text) ?? [];
    repeats[repeat] = line;
    cases.set(text, repeats);
  }
  return cases;
}

/**
 * Reads the lines of a compressed file by key text; empty where there is no file.
 *
 * @throws {UserError} For a file that is not such a one.
 */
export async function readSamples(
  path: string,
): Promise<Map<string, string[]>> {
  const bytes = readBytesIfThere(path);
  if (bytes === undefined) return new Map();
  try {
    const stream = new Blob([bytes]).stream().pipeThrough(
      new DecompressionStream("gzip"),
    );
    return groupSamples((await new Response(stream).text()).split("\n"));
  } catch (cause) {
    const said = cause instanceof Error ? cause.message : `${cause}`;
    throw new UserError(
      `Cannot read ${path}: ${said}; move it away or pass --out with another folder`,
    );
  }
}

/**
 * Compresses `lines` into the file at `path`.
 *
 * @throws {UserError} Where the disk refuses; the old file is still there.
 */
export async function writeSamples(
  path: string,
  lines: readonly string[],
): Promise<void> {
  const text = lines.map((line) => `${line}\n`).join("");
  const stream = new Blob([text]).stream().pipeThrough(
    new CompressionStream("gzip"),
  );
  replaceFile(path, await new Response(stream).bytes());
}
