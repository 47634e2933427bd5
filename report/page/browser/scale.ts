/**
 * Axes: where a value stands, and which values are named.
 *
 * @module
 */

/** An axis from data to pixels. */
export interface Scale {
  at(value: number): number;
  readonly ticks: readonly number[];
}

/** Where an axis goes, and how. */
export interface ScaleOptions {
  readonly from: number;
  readonly to: number;
  readonly log: boolean;
}

/** About this many steps are named. */
const STEPS = 5;

/** An axis over all of `values`, with round ticks and a little room. */
export function valueScale(
  values: readonly number[],
  { from, to, log }: ScaleOptions,
): Scale {
  const [least, most] = [Math.min(...values), Math.max(...values)];
  if (log) return logScale(least, most, { from, to });
  const span = least < most / 2 ? most : most - least;
  const step = roundStep((span || most || 1) / STEPS);
  // From zero where that leaves the curves half of the picture.
  const low = least < most / 2 ? 0 : Math.floor(least / step) * step;
  const high = Math.max(low + step, Math.ceil(most / step) * step);
  const ticks = Array.from(
    { length: Math.round((high - low) / step) + 1 },
    // Sums of a step such as 0.2 would be no round numbers.
    (_, i) => Number((low + i * step).toPrecision(12)),
  );
  return {
    at: (value) => from + (value - low) / (high - low) * (to - from),
    ticks,
  };
}

function logScale(
  least: number,
  most: number,
  { from, to }: Pick<ScaleOptions, "from" | "to">,
): Scale {
  const low = Math.log2(least) - 0.1;
  const high = Math.log2(most) + 0.1;
  const wide = high - low > 5;
  const ticks: number[] = [];
  for (let ten = Math.floor(Math.log10(least)); 10 ** ten <= most; ten++) {
    for (const digit of wide ? [1] : [1, 1.5, 2, 3, 5, 7]) {
      const tick = digit * 10 ** ten;
      if (tick >= 2 ** low && tick <= 2 ** high) ticks.push(tick);
    }
  }
  return {
    at: (value) => from + (Math.log2(value) - low) / (high - low) * (to - from),
    ticks,
  };
}

/** 1, 2 or 5 times a power of ten, not less than `step`. */
export function roundStep(step: number): number {
  const ten = 10 ** Math.floor(Math.log10(step));
  return ten * ([1, 2, 5].find((digit) => digit * ten >= step) ?? 10);
}

/** An axis of sizes: at their distance, or at that of their logarithms where they span much. */
export function sizeScale(
  sizes: readonly number[],
  { from, to }: Pick<ScaleOptions, "from" | "to">,
): Scale {
  const [least, most] = [sizes[0] ?? 1, sizes.at(-1) ?? 1];
  const place = most / least > 16 ? Math.log2 : (size: number) => size;
  const span = place(most) - place(least);
  const at = (size: number) =>
    span === 0
      ? (from + to) / 2
      : from + (place(size) - place(least)) / span * (to - from);
  // As many as have room for their digits.
  const apart = 46;
  const ticks: number[] = [];
  for (const size of sizes) {
    const last = ticks.at(-1);
    if (last === undefined || at(size) - at(last) >= apart) ticks.push(size);
  }
  return { at, ticks };
}
