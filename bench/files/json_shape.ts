/**
 * Whether values out of JSON have the shape that they should have.
 *
 * @module
 */

/** An object with names. */
export type Fields = Readonly<Record<string, unknown>>;

/** The value behind a JSON text; nothing where it is none. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch (cause) {
    if (cause instanceof SyntaxError) return undefined;
    throw cause;
  }
}

/** Whether `value` is an object with names. */
export function isFields(value: unknown): value is Fields {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Whether `value` has a text under each of `names`. */
export function hasTexts(value: unknown, names: readonly string[]): boolean {
  return isFields(value) &&
    names.every((name) => typeof value[name] === "string");
}

/** Whether `value` has a number under each of `names`. */
export function hasNumbers(value: unknown, names: readonly string[]): boolean {
  return isFields(value) &&
    names.every((name) => typeof value[name] === "number");
}

/** Whether `value` is a list of numbers. */
export function isNumbers(value: unknown): value is readonly number[] {
  return Array.isArray(value) && value.every((v) => typeof v === "number");
}
