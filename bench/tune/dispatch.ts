/**
 * Dispatch tables: the kernel and config of each range of a size, from measurements.
 *
 * @module
 */

/** A kernel at a config. */
export interface Option {
  readonly kernel: string;
  /** As `formatValues` writes it; empty for a kernel that has one. */
  readonly config: string;
}

/** An option, timed at one size. */
export interface Measurement {
  readonly at: number;
  readonly option: Option;
  readonly us: number;
}

/** A size at which a range was measured. */
export interface DispatchPoint {
  readonly at: number;
  /** Of the range's option. */
  readonly us: number;
  /** The fastest option at this size, and its time. */
  readonly best: Option;
  readonly best_us: number;
}

/** Sizes from `from` to `to`, both included. */
export interface Span {
  readonly from: number;
  readonly to: number;
  /** The size for which the option is chosen. @default {all that are measured, in the mean} */
  readonly opt?: number;
}

/** A span whose sizes get the same option. */
export interface DispatchRange extends Span {
  readonly option: Option;
  readonly points: readonly DispatchPoint[];
  /** Geometric mean of the option's time over the best's, less 1. */
  readonly loss: number;
  /** The same where it is worst. */
  readonly worst: number;
}

/**
 * The ranges that end at each of ascending `bounds`; the first begins at 1.
 *
 * @example
 * ```ts
 * import { spansOf } from "./dispatch.ts";
 * import { deepStrictEqual } from "node:assert/strict";
 *
 * deepStrictEqual(spansOf([1, 8]), [{ from: 1, to: 1 }, { from: 2, to: 8 }]);
 * ```
 */
export function spansOf(bounds: readonly number[]): readonly Span[] {
  return bounds.map((to, i) => ({ from: (bounds[i - 1] ?? 0) + 1, to }));
}

/**
 * The sizes at which a range is measured: its ends, and the middle by ratio; or its ends, the size
 * for which it is chosen, and the middles between these.
 *
 * @example
 * ```ts
 * import { probesOf } from "./dispatch.ts";
 * import { deepStrictEqual } from "node:assert/strict";
 *
 * deepStrictEqual(probesOf({ from: 9, to: 32 }), [9, 17, 32]);
 * deepStrictEqual(probesOf({ from: 1, to: 1 }), [1]);
 * deepStrictEqual(probesOf({ from: 1, to: 512, opt: 32 }), [1, 6, 32, 128, 512]);
 * ```
 */
export function probesOf({ from, to, opt }: Span): readonly number[] {
  const middle = (low: number, high: number) =>
    Math.round(Math.sqrt(low * high));
  const inside = opt === undefined
    ? [middle(from, to)]
    : [middle(from, opt), opt, middle(opt, to)];
  return [...new Set([from, ...inside, to])];
}

/** A range that loses more than this at a size is not hidden in a larger one. */
const MERGED_LOSS = 0.05;

/**
 * The best option of each of `spans`; neighbours are merged where nothing is lost with the
 * cut between them: they have the same option, it is the fastest at the upper end of each,
 * and at no size of either it loses more than 5 %.
 *
 * A span gets the option that loses least against the best at each of its sizes, in the
 * geometric mean, or is the fastest at its `opt`. Where no option was timed at all of them, as a config may be legal at
 * some only, it is cut after its lowest size. Where nothing was timed at a size that was to
 * be measured, nothing runs there: the span keeps what lies between its other sizes.
 */
export function dispatchRanges(
  spans: readonly Span[],
  measured: readonly Measurement[],
): readonly DispatchRange[] {
  const merged: DispatchRange[] = [];
  const parts = spans.flatMap((span) => measuredParts(span, measured));
  for (const range of parts.flatMap((part) => rangesOf(part, measured))) {
    const last = merged.at(-1);
    if (last && mayMerge(last, range)) {
      const points = [...last.points, ...range.points];
      merged[merged.length - 1] = withLoss({ ...last, to: range.to }, points);
    } else merged.push(range);
  }
  return merged;
}

/** Whether the cut between neighbours says nothing to whoever asked for it. */
function mayMerge(a: DispatchRange, b: DispatchRange): boolean {
  return a.to === b.from - 1 && textOf(a.option) === textOf(b.option) &&
    [a, b].every(({ points, worst }) => {
      const { us, best_us } = points.at(-1)!;
      return us <= best_us && worst <= MERGED_LOSS;
    });
}

/** `span` from the first to the last of each run of its sizes that were measured. */
function measuredParts(
  span: Span,
  measured: readonly Measurement[],
): readonly Span[] {
  const parts: Span[] = [];
  let open = false;
  for (const at of probesOf(span)) {
    const there = measured.some((m) => m.at === at);
    if (there) {
      const from = open ? parts.pop()!.from : at;
      parts.push(within(span, from, at));
    }
    open = there;
  }
  return parts;
}

/** The part of `span` from `from` to `to`, chosen for the same size if that is in it. */
function within({ opt }: Span, from: number, to: number): Span {
  const has = opt !== undefined && from <= opt && opt <= to;
  return { from, to, ...(has ? { opt } : {}) };
}

function rangesOf(
  span: Span,
  measured: readonly Measurement[],
): readonly DispatchRange[] {
  const { from, to, opt } = span;
  const inside = measured.filter(({ at }) => from <= at && at <= to);
  const sizes = [...new Set(inside.map(({ at }) => at))].sort((a, b) => a - b);
  if (sizes.length === 0) return [];
  const options = Map.groupBy(inside, ({ option }) => textOf(option));
  const best = new Map(
    sizes.map((at) => [at, fastest(inside.filter((m) => m.at === at))]),
  );
  const everywhere = [...options.values()].filter((list) =>
    sizes.every((at) => list.some((m) => m.at === at))
  );
  if (everywhere.length === 0) {
    const low = sizes[0]!;
    return [
      ...rangesOf(within(span, from, low), measured),
      ...rangesOf(within(span, low + 1, to), measured),
    ];
  }
  const ranges = everywhere.map((list) => {
    const points = sizes.map((at): DispatchPoint => {
      const { us } = fastest(list.filter((m) => m.at === at));
      const { option, us: best_us } = best.get(at)!;
      return { at, us, best: option, best_us };
    });
    return withLoss({ ...span, option: list[0]!.option }, points);
  });
  const cost = ({ loss, points }: DispatchRange) =>
    points.find(({ at }) => at === opt)?.us ?? loss;
  return [ranges.reduce((a, b) => cost(b) < cost(a) ? b : a)];
}

function withLoss(
  range: Span & { readonly option: Option },
  points: readonly DispatchPoint[],
): DispatchRange {
  const logs = points.map(({ us, best_us }) => Math.log(us / best_us));
  const mean = logs.reduce((sum, x) => sum + x, 0) / logs.length;
  return {
    ...range,
    points,
    loss: Math.expm1(mean),
    worst: Math.expm1(Math.max(...logs)),
  };
}

function fastest(measured: readonly Measurement[]): Measurement {
  return measured.reduce((a, b) => b.us < a.us ? b : a);
}

function textOf({ kernel, config }: Option): string {
  return `${kernel}\n${config}`;
}
