/**
 * Chooses a kernel and its config for a point from recorded rows and the kernels' models, without
 * measuring.
 *
 * @module
 */

import type { Device, DeviceInfo } from "../device/device.ts";
import { CaseError } from "../model/errors.ts";
import { formatValues, parseValues, type Values } from "../model/grid.ts";
import type { Candidate, Kernel } from "../model/kernel_spec.ts";
import type { Op } from "../model/op.ts";
import { startsEarly } from "../model/settings.ts";
import { type HintRow, loneOf, mostLike } from "./hints.ts";
import {
  distance,
  otherNames,
  type Place,
  placeOf,
  placesOf,
  type RecordedPoint,
  textKey,
} from "./recorded_points.ts";

/** What the choice for a point rests on. */
export interface AutoOptions<P> {
  readonly op: Op<P>;
  /** Kernels of the operation, of any backend; those of Python are left out. */
  readonly kernels: readonly Kernel<P>[];
  /** The backend whose kernels may be chosen. */
  readonly backend: string;
  readonly info: DeviceInfo;
  /** Recorded rows of devices of the same architecture, of any operation. */
  readonly rows: readonly HintRow[];
  /** Whether kernels that call the vendor's library may be chosen. @default {false} */
  readonly library?: boolean;
  /** Whether kernels that start before their predecessor ends are preferred to others. @default {false} */
  readonly early?: boolean;
  /** The open device; without it configs that a library lists are taken on trust. */
  readonly device?: Device;
}

/** The choice for a point. */
export interface AutoChoice<P> {
  readonly kernel: Kernel<P>;
  readonly config: Values;
  /** `table`: the fastest recorded row at this point; `model`: a prediction. */
  readonly by: "table" | "model";
  /** The time of a call that is expected, in µs. */
  readonly predictedUs: number;
}

/**
 * Chooses a kernel and config for `point`. Where rows were recorded at it, the fastest kernel among
 * them, unless one without a row there is predicted to take less than three quarters of its time;
 * elsewhere the one of the smallest predicted time: at the nearest recorded points, its time
 * relative to the fastest kernel there, times the change of its model from there to `point`. Where
 * no kernel has a row, the kernel whose model predicts the smallest time. Rows of `auto` say what it
 * chose and not what is fastest: a point that has no others is not recorded, and its rows count only
 * where no point predicts a time.
 *
 * With `early`, rows of chains whose calls start early count before others, where kernels other than
 * `auto` have some: the config that is fastest there is often not the one of a lone call.
 *
 * @throws {CaseError} `unsupported`, where no kernel runs at the point, and where none that does has
 * a recorded row or a model.
 */
export function chooseAuto<P>(
  point: P,
  options: AutoOptions<P>,
): AutoChoice<P> {
  const { op, info, backend, library = false, early, device } = options;
  const hasLibrary = library && (device === undefined || !!device.blas);
  const own = options.kernels.filter((kernel) =>
    kernel.backend === backend && kernel.python === undefined &&
    (hasLibrary || !kernel.library)
  );
  if (own.length === 0) {
    throw new CaseError(
      "unsupported",
      `${op.name} has no kernel of its own on ${backend} to choose from`,
    );
  }
  const entrants = own.filter((kernel) =>
    kernel.unsupported(point, info) === undefined
  ).map((kernel) => new Entrant(kernel, point, options));
  const places = placesOf(options.rows, options);
  const here = placeOf(op, textKey(op, point));
  const groups = places.find(({ text }) => text === here.text)?.groups ?? [];
  const among = (some: readonly Entrant<P>[]) =>
    atRecorded(some, groups, places, here) ?? predicted(some, places, here) ??
      recorded(some, groups) ?? modelled(some);
  const starting = early
    ? entrants.filter(({ kernel }) => kernel.startsEarly?.(point))
    : [];
  const choice = recorded(starting, earlyOnly(groups, starting)) ??
    among(starting) ?? among(entrants);
  if (choice) return choice;
  throw new CaseError(
    "unsupported",
    entrants.some(({ legal }) => legal.length > 0)
      ? `No kernel of ${op.name} that runs here has a recorded row on ${info.arch} or a model: name a kernel`
      : `No kernel runs here: ${
        own.map((kernel) =>
          `${kernel.name}: ${
            kernel.unsupported(point, info) ?? "no config is legal"
          }`
        ).join("; ")
      }`,
  );
}

/** A kernel that may be chosen, with its configs at the point. */
class Entrant<P> {
  #legal: readonly Candidate[] | undefined;

  constructor(
    readonly kernel: Kernel<P>,
    readonly point: P,
    readonly options: AutoOptions<P>,
  ) {}

  /** Its legal configs, the best by its model first. */
  get legal(): readonly Candidate[] {
    return this.#legal ??= this.#listed()
      .filter(({ illegal }) => illegal === undefined);
  }

  #listed(): readonly Candidate[] {
    const { kernel, point, options: { info, device } } = this;
    if (!kernel.offers) return [...kernel.candidates(point, info)];
    try {
      return device ? [...kernel.offers(point, device)] : [];
    } catch (error) {
      // The device's library has no such part.
      if (error instanceof CaseError) return [];
      throw error;
    }
  }

  /** The legal config that is written as `text`; nothing where it is not legal. */
  named(text: string): Values | undefined {
    // A library's list needs a device: without one the record is trusted.
    if (this.kernel.offers && !this.options.device) return parseValues(text);
    return this.legal.find(({ config }) => formatValues(config) === text)
      ?.config;
  }

  /** The legal config that is `text` or differs least from it; algorithms of a library are unlike. */
  near(text: string): Values | undefined {
    const like = this.kernel.offers
      ? undefined
      : mostLike(parseValues(text), this.legal);
    return this.named(text) ?? like?.config;
  }

  /** The time at `point` by its model in µs; nothing without a finite one. */
  model(point: P, config: Values): number | undefined {
    const us = this.kernel.predict?.(point, config, this.options.info);
    return us !== undefined && us > 0 && us < Infinity ? us : undefined;
  }
}

/**
 * The fastest kernel of the rows of a point, at its recorded config; where that is no longer legal, at
 * the one that differs least, or that its model puts first: a kernel that changed is still the same
 * kernel.
 */
function recorded<P>(
  entrants: readonly Entrant<P>[],
  groups: RecordedPoint<P>["groups"],
): AutoChoice<P> | undefined {
  const kernels = new Map(entrants.map((one) => [one.kernel.name, one]));
  const times = nameRan(
    comparable(groups, (kernel) => kernels.has(kernel)),
  ).filter(({ row }) => kernels.has(row.kernel));
  for (const { row, us } of times.toSorted((a, b) => a.us - b.us)) {
    const entrant = kernels.get(row.kernel)!;
    const same = entrant.named(row.config);
    const config = same ?? entrant.near(row.config) ?? entrant.legal[0]?.config;
    if (config === undefined) continue;
    const by = same ? "table" : "model";
    return { kernel: entrant.kernel, config, by, predictedUs: us };
  }
}

/**
 * A prediction below this part of the fastest recorded time counts more than it. Predictions are up to a
 * quarter off, and the times of two timers differ by up to 15 %.
 */
const SURE = 0.75;

/**
 * The fastest recorded kernel at `here`; or one without a row there, which may be newer than the rows, if
 * its predicted time is below {@linkcode SURE} of the fastest. Nothing where only `auto` has rows.
 */
function atRecorded<P>(
  entrants: readonly Entrant<P>[],
  groups: RecordedPoint<P>["groups"],
  places: readonly RecordedPoint<P>[],
  here: Place,
): AutoChoice<P> | undefined {
  const names = new Set(entrants.map(({ kernel }) => kernel.name));
  if (!groups.flat().some(({ kernel }) => names.has(kernel))) return undefined;
  const lone = new Set(loneOf(groups.flat()));
  const table = recorded(
    entrants,
    groups.map((rows) => rows.filter((row) => lone.has(row))),
  );
  if (table === undefined) return undefined;
  const known = new Set(
    groups.flat().flatMap(({ kernel, config }) => [
      kernel,
      chosenBy(parseValues(config))?.kernel,
    ]),
  );
  const others = entrants.filter(({ kernel }) => !known.has(kernel.name));
  const choice = predicted(others, places, here);
  return choice && choice.predictedUs < SURE * table.predictedUs
    ? choice
    : table;
}

/** Of `groups` the rows of chains whose calls start early, as far as they are of `entrants`. */
function earlyOnly<P>(
  groups: RecordedPoint<P>["groups"],
  entrants: readonly Entrant<P>[],
): RecordedPoint<P>["groups"] {
  const kernels = new Set(entrants.map(({ kernel }) => kernel.name));
  return groups.map((rows) =>
    rows.filter(({ timer, kernel }) =>
      startsEarly(timer) && kernels.has(kernel)
    )
  );
}

/** A row, and its time in a comparison. */
interface Time {
  readonly row: HintRow;
  readonly us: number;
}

/** `times` with those of `auto` as times of the kernel that ran, unless it has its own. */
function nameRan(times: readonly Time[]): readonly Time[] {
  const known = new Set(times.map(({ row }) => row.kernel));
  return times.map((time) => {
    const ran = chosenBy(parseValues(time.row.config));
    if (ran === undefined || known.has(ran.kernel)) return time;
    const config = formatValues(ran.config);
    return { ...time, row: { ...time.row, kernel: ran.kernel, config } };
  });
}

/** The name of a config's value that is the kernel that `auto` chose. */
export const KERNEL = "kernel";

/** The kernel and config that a config of `auto` names; nothing for any other kernel's. */
export function chosenBy(
  { [KERNEL]: kernel, ...config }: Values,
): { readonly kernel: string; readonly config: Values } | undefined {
  return typeof kernel === "string" ? { kernel, config } : undefined;
}

/**
 * The rows of one point, one of each kernel, in times that can be compared. Those of the suite and
 * timer with the most kernels that `counts` count as they are. A kernel that only another one has
 * is scaled by the kernels that both have; where they have none in common, it is left out.
 */
function comparable(
  groups: readonly (readonly HintRow[])[],
  counts: (kernel: string) => boolean,
): readonly Time[] {
  const size = (rows: readonly HintRow[]) =>
    rows.filter(({ kernel }) => counts(kernel)).length;
  const [most = [], ...others] = groups.toSorted((a, b) => size(b) - size(a));
  const timed = (rows: readonly HintRow[]) =>
    rows.map((row) => ({ row, us: Number(row.median_us) }));
  const all = new Map(timed(most).map((one) => [one.row.kernel, one]));
  for (const group of others) {
    const own = timed(group);
    const shared = own.flatMap(({ row, us }) => {
      const other = all.get(row.kernel);
      return other ? [Math.log(other.us / us)] : [];
    });
    if (shared.length === 0) continue;
    const scale = Math.exp(shared.reduce((a, b) => a + b) / shared.length);
    for (const { row, us } of own) {
      if (!all.has(row.kernel)) all.set(row.kernel, { row, us: us * scale });
    }
  }
  return [...all.values()];
}

/** Recorded points of a kernel that a prediction is interpolated between. */
const NEAREST = 3;
/** Added to a squared distance, in which a factor of two in one size is 1. */
const CLOSE = 0.05;
/**
 * The weight of a model's predicted change from a recorded point, as an exponent. It grows from 0 at
 * the point to `power` at the squared distance `from`, because nearby recorded times order kernels
 * better than their models do (`docs/notes/2026-11-24-auto.md`).
 */
const MODEL = { power: 0.5, from: 12 };
/**
 * From a squared distance on, a recorded config that the model puts so many times behind its best gives
 * way to that: it may be of another number of waves. With the limits of a fitted model the configs that
 * `columns-k` would take at left-out points were 1.1 instead of 2.5 % slower than the fastest in the
 * mean; with them for all kernels, `cluster-k` took the recorded one at 12 instead of 38 of 144 points.
 */
const OUTGROWN = {
  rough: [{ from: 0.1, behind: 1.25 }, { from: 0.5, behind: 1.12 }],
  fitted: [{ from: 0.1, behind: 1.08 }, { from: 0.5, behind: 1.05 }],
} as const;

/** A recorded row of a kernel. */
interface Neighbour<P> {
  readonly point: P;
  /** The squared distance. */
  readonly far: number;
  readonly config: string;
  readonly us: number;
}

/**
 * The smallest prediction. Where no recorded point has types alike, the same layout and other names,
 * those that differ in the fewest count.
 */
function predicted<P>(
  entrants: readonly Entrant<P>[],
  places: readonly RecordedPoint<P>[],
  here: Place,
): AutoChoice<P> | undefined {
  const levels = Map.groupBy(places, (place) => otherNames(place, here));
  for (const [, points] of [...levels].sort(([a], [b]) => a - b)) {
    const neighbours = neighboursOf(entrants, points, here);
    const choices = entrants.flatMap((entrant) =>
      predictionOf(entrant, neighbours.get(entrant.kernel.name) ?? []) ?? []
    );
    const best = choices.toSorted((a, b) => a.predictedUs - b.predictedUs)[0];
    if (best) return best;
  }
}

function neighboursOf<P>(
  entrants: readonly Entrant<P>[],
  places: readonly RecordedPoint<P>[],
  here: Place,
): ReadonlyMap<string, readonly Neighbour<P>[]> {
  const names = new Set(entrants.map(({ kernel }) => kernel.name));
  const all = places.flatMap(({ point, groups, ...place }) => {
    const far = distance(here, place);
    return loneOf(groups.flat()).filter(({ kernel }) => names.has(kernel))
      .map(({ kernel, config, median_us }) => ({
        kernel,
        point,
        far,
        config,
        us: Number(median_us),
      }));
  });
  return Map.groupBy(
    all.toSorted((a, b) => a.far - b.far),
    ({ kernel }) => kernel,
  );
}

function predictionOf<P>(
  entrant: Entrant<P>,
  all: readonly Neighbour<P>[],
): AutoChoice<P> | undefined {
  const { kernel, point, options: { op } } = entrant;
  // What a library's search finds at one point says nothing of others.
  if (kernel.offers) return undefined;
  const near = all.slice(0, NEAREST);
  const config = near.values().map((one) => entrant.near(one.config))
    .find((one) => one !== undefined);
  if (config === undefined) return undefined;
  const own = entrant.model(point, config);
  let weights = 0;
  let sum = 0;
  for (const { point: there, far, config: text, us } of near) {
    const weight = 1 / (far + CLOSE);
    const change = effort(op, point) / effort(op, there);
    const other = entrant.model(there, parseValues(text));
    const byModel = own && other ? own / other / change : 1;
    const power = MODEL.power * Math.min(1, far / MODEL.from);
    weights += weight;
    sum += weight * Math.log(us * change * byModel ** power);
  }
  const [first] = entrant.legal;
  const behind = (own ?? 0) / (first?.predicted ?? Infinity);
  const limits = OUTGROWN[kernel.isFitted ? "fitted" : "rough"];
  const isOutgrown = limits.some((limit) =>
    near[0]!.far > limit.from && behind > limit.behind
  );
  return {
    kernel,
    config: first && isOutgrown ? first.config : config,
    by: "model",
    predictedUs: Math.exp(sum / weights),
  };
}

/** Flops that take a device as long as a byte, and bytes that take it as long as a launch. */
const BALANCE = { flops: 200, bytes: 8e6 };

/** A measure of the time of any kernel at `point`. */
function effort<P>(op: Op<P>, point: P): number {
  const { flops, bytes } = op.work(point);
  return BALANCE.bytes + Math.max(bytes, flops / BALANCE.flops);
}

/** The smallest time by a model. */
function modelled<P>(
  entrants: readonly Entrant<P>[],
): AutoChoice<P> | undefined {
  const choices = entrants.flatMap(({ kernel, legal }): AutoChoice<P>[] => {
    const [first] = legal;
    const predictedUs = first?.predicted ?? Infinity;
    return first && predictedUs < Infinity
      ? [{ kernel, config: first.config, by: "model", predictedUs }]
      : [];
  });
  return choices.toSorted((a, b) => a.predictedUs - b.predictedUs)[0];
}
