/**
 * The one rule for times that cannot be: the page and `diff` leave them out alike.
 *
 * @module
 */

/**
 * Whether a row is suspect: with a cold cache every operand comes from memory, which
 * takes no less than the speed of light. Times in microseconds; where there is only one,
 * nothing can be said.
 */
export function isSuspect(
  { cache, time_us, sol_us }: {
    readonly cache: string;
    readonly time_us: number | undefined;
    readonly sol_us: number | undefined;
  },
): boolean {
  return cache === "cold" && time_us !== undefined && sol_us !== undefined &&
    time_us < sol_us;
}
