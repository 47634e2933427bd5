/**
 * Parses JSON of files and processes by a schema, and seals what programs alone write.
 *
 * @module
 */

import {
  type GenericIssue,
  type GenericSchema,
  getDotPath,
  type InferOutput,
  safeParse,
} from "valibot";
import { brief } from "../model/errors.ts";
import { hashOf } from "./hash.ts";

/** Says in one line which field of a value is wrong, and what would be right. */
export function formatIssue(issue: GenericIssue): string {
  const path = getDotPath(issue);
  const where = path === null ? "it" : `field ${brief(path, MOST)}`;
  if (issue.kind !== "schema") return `${where}: ${issue.message}`;
  if (issue.received === "undefined") return `${where} is missing`;
  if (issue.expected === "never") return `${where} is unknown`;
  const [is, must] = [brief(issue.received, MOST), issue.expected ?? ""]
    .map((name) => ARTICLES[name] ?? name);
  return `${where} is ${is}: it must be ${must}`;
}

const MOST = 200;

/** Names of types as valibot writes them, and as a sentence does. */
const ARTICLES: Readonly<Record<string, string>> = {
  Array: "a list",
  Object: "an object",
  boolean: "true or false",
  number: "a number",
  string: "a text",
};

/** Significant digits of numbers that are shown: more than any clock has. */
const DIGITS = 9;

/**
 * Formats `value` as JSON to be read by people and programs: 286.41, and not 286.41000000004624.
 *
 * @param indent Blanks of a level; one line without.
 */
export function shownJson(value: unknown, indent?: number): string {
  const short = (_: string, x: unknown) =>
    typeof x === "number" && !Number.isInteger(x)
      ? Number(x.toPrecision(DIGITS))
      : x;
  return JSON.stringify(value, short, indent);
}

/**
 * Parses `text`, whose value must be of `schema`; what the schema does not name stays.
 *
 * @param refuse Makes the error of what is wrong.
 */
export function parseJson<S extends GenericSchema>(
  schema: S,
  text: string,
  refuse: (why: string) => Error,
): InferOutput<S> {
  let value: unknown;
  try {
    value = JSON.parse(text, revive);
  } catch (cause) {
    // A million brackets are valid JSON, and more than the parser's stack.
    if (cause instanceof RangeError) throw refuse("it is nested too deeply");
    if (!(cause instanceof SyntaxError)) throw cause;
    throw refuse(
      text.trim() === "" ? "it is empty" : "it is damaged or cut short",
    );
  }
  const { issues } = safeParse(schema, value, { abortEarly: true });
  if (issues) throw refuse(formatIssue(issues[0]));
  return value as InferOutput<S>;
}

/** Parses the same; nothing where it is something else. */
export function jsonIn<S extends GenericSchema>(
  schema: S,
  text: string,
): InferOutput<S> | undefined {
  const wrong = new Error("not of the schema");
  try {
    return parseJson(schema, text, () => wrong);
  } catch (cause) {
    if (cause === wrong) return undefined;
    throw cause;
  }
}

const WORDS: readonly string[] = ["NaN", "Infinity", "-Infinity"];

/** For `JSON.stringify`: a number that is not finite becomes `{"number":"NaN"}`. */
export function spell(_: string, value: unknown): unknown {
  return typeof value === "number" && !Number.isFinite(value)
    ? { number: `${value}` }
    : value;
}

/** For `JSON.parse`: turns back what {@linkcode spell} made, and nothing else. */
export function revive(_: string, value: unknown): unknown {
  if (typeof value !== "object" || value === null) return value;
  const { number, ...others } = value as Record<string, unknown>;
  return typeof number === "string" && WORDS.includes(number) &&
      Object.keys(others).length === 0
    ? Number(number)
    : value;
}

/**
 * JSON whose objects have their keys in code-point order.
 *
 * @example
 * ```ts
 * import { canonicalJson } from "./json_file.ts";
 * import { strictEqual } from "node:assert/strict";
 *
 * strictEqual(canonicalJson({ b: [2, { d: 1, c: 0 }], a: 1 }), '{"a":1,"b":[2,{"c":0,"d":1}]}');
 * ```
 */
export function canonicalJson(value: unknown): string {
  return JSON.stringify(
    value,
    (name, inner: unknown) =>
      isRecord(inner)
        ? Object.fromEntries(
          Object.entries(inner).sort(([a], [b]) => a < b ? -1 : 1),
        )
        : spell(name, inner),
  );
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function sumOf(content: object): string {
  return hashOf(canonicalJson(content));
}

/**
 * Returns `content` with a checksum of its values. The order of fields and the white space of
 * a file do not count.
 */
export function seal<T extends object>(
  content: T,
): T & { readonly sum: string } {
  const { sum: _, ...own } = content as MaybeSealed;
  const sum = sumOf(own);
  // First: a part that is lost with the checksum leaves no content that fits without one.
  return Object.assign({ sum }, content, { sum });
}

/** Content that may have a checksum. */
type MaybeSealed = Readonly<Record<string, unknown>> & {
  readonly sum?: string;
};

/** Returns whether the checksum of {@linkcode seal} is that of `content`; missing, it is not. */
export function isSealed({ sum, ...content }: MaybeSealed): boolean {
  return sum === sumOf(content);
}

/** Returns the same, but true where there is no checksum: versions before 0.2 wrote none. */
export function isSealedOrOld(content: MaybeSealed): boolean {
  return content.sum === undefined || isSealed(content);
}

/** Says what content is whose checksum is another one. */
export const UNSEALED =
  "its checksum is of other content; it is damaged, or was edited by hand";
