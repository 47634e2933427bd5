/** Simulates samples of a timer for tests. */

/** Returns a normal value of deviation 1 (Box and Muller). */
export function normal(random: () => number): number {
  return Math.sqrt(-2 * Math.log(1 - random())) *
    Math.cos(2 * Math.PI * random());
}

/**
 * Returns `n` samples of an AR(1) process around `center`, as clocks and neighbours cause;
 * `deviation` in per cent.
 */
export function drifting(
  random: () => number,
  { n, correlation, deviation, center = 100 }: {
    readonly n: number;
    readonly correlation: number;
    readonly deviation: number;
    readonly center?: number;
  },
): number[] {
  const fresh = Math.sqrt(1 - correlation ** 2);
  let state = normal(random);
  return Array.from({ length: n }, () => {
    state = correlation * state + fresh * normal(random);
    return center * (1 + deviation * state / 100);
  });
}
