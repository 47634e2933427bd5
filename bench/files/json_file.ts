/**
 * Parses JSON of files and processes by a schema.
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

/** Says in one line which field of a value is wrong, and what would be right. */
export function formatIssue(issue: GenericIssue): string {
  const path = getDotPath(issue);
  const where = path === null ? "it" : `field ${path}`;
  if (issue.kind !== "schema") return `${where}: ${issue.message}`;
  if (issue.received === "undefined") return `${where} is missing`;
  const [is, must] = [issue.received, issue.expected ?? ""]
    .map((name) => ARTICLES[name] ?? name);
  return `${where} is ${is}: it must be ${must}`;
}

/** Names of types as valibot writes them, and as a sentence does. */
const ARTICLES: Readonly<Record<string, string>> = {
  Array: "a list",
  Object: "an object",
  boolean: "true or false",
  number: "a number",
  string: "a text",
};

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
