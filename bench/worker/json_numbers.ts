/**
 * Numbers that JSON has no words for.
 *
 * @module
 */

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
