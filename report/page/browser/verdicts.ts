/**
 * The order and the mood of verdicts.
 *
 * @module
 */

/** From what to act on first to what needs no look, as `diff` lists them. */
const ORDER: readonly string[] = [
  ...["broken", "less-accurate", "missing", "incomparable", "slower"],
  ...["suspect", "unclear", "new", "fixed", "faster", "same"],
];
const ALARMS = ["broken", "less-accurate", "missing", "slower", "suspect"];

/** The place of a verdict among the others, the worst first. */
export function rankOf(verdict: string): number {
  const at = ORDER.indexOf(verdict);
  return at < 0 ? ORDER.length : at;
}

/** `bad`, `good`, or nothing for what is neither. */
export function moodOf(verdict: string): "bad" | "good" | "" {
  if (["faster", "fixed"].includes(verdict)) return "good";
  return ALARMS.includes(verdict) ? "bad" : "";
}
