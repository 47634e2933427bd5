/**
 * The points at which rows were recorded, and how far they are from another.
 *
 * @module
 */

import { columnOf, readAxes } from "../model/axes.ts";
import { UserError } from "../model/errors.ts";
import type { Scalar } from "../model/grid.ts";
import type { Op } from "../model/op.ts";
import { axesOf, type AxisColumns } from "../row/row.ts";
import type { HintRow } from "./hints.ts";

/** The sizes of a point, and what else tells it from others. */
export interface Place {
  /** All values as one text. */
  readonly text: string;
  /** Base-2 logarithms. */
  readonly sizes: readonly number[];
  readonly names: readonly string[];
  readonly epilogue: string;
}

/** A recorded point. */
export interface RecordedPoint<P> extends Place {
  readonly point: P;
  /** Rows that were timed in the same way, in one suite. */
  readonly groups: readonly (readonly HintRow[])[];
}

/** What rows are of. */
interface Recorded<P> {
  readonly op: Op<P>;
  readonly backend: string;
}

const known = new WeakMap<
  readonly HintRow[],
  Map<string, readonly RecordedPoint<unknown>[]>
>();

/** The points of `rows` that the operation still has; read once. */
export function placesOf<P>(
  rows: readonly HintRow[],
  { op, backend }: Recorded<P>,
): readonly RecordedPoint<P>[] {
  const ops = known.get(rows) ?? new Map();
  known.set(rows, ops);
  const name = `${op.name} ${backend}`;
  const places: readonly RecordedPoint<P>[] = ops.get(name) ??
    readPlaces(rows, { op, backend });
  ops.set(name, places);
  return places;
}

function readPlaces<P>(
  rows: readonly HintRow[],
  { op, backend }: Recorded<P>,
): readonly RecordedPoint<P>[] {
  const own = rows.filter((row) =>
    row.op === op.name && row.backend === backend && Number(row.median_us) > 0
  );
  const points = Map.groupBy(own, (row) => placeOf(op, row).text);
  return [...points.values()].flatMap((all) => {
    const [first] = all;
    const point = recordedPoint(op, first!);
    const groups = Map.groupBy(
      all,
      ({ suite, timer, cache }) => [suite, timer, cache].join("\0"),
    );
    return point === undefined
      ? []
      : [{ ...placeOf(op, first!), point, groups: [...groups.values()] }];
  });
}

/** The value of each axis of `op` at `key`, as text; those that it has. */
function valuesAt<P>(
  { axes }: Op<P>,
  key: AxisColumns,
): ReadonlyMap<string, string> {
  const own = axesOf(key);
  return new Map(axes.flatMap((axis) => {
    const value = own[axis.name] ?? own[columnOf(axis) ?? ""];
    return value === undefined ? [] : [[axis.name, value] as const];
  }));
}

/** The point of a recorded row; nothing where the operation has no such point any more. */
export function recordedPoint<P>(op: Op<P>, key: AxisColumns): P | undefined {
  const values: Record<string, Scalar> = {};
  for (const [name, text] of valuesAt(op, key)) {
    values[name] = /^\d+$/.test(text) ? Number(text) : text;
  }
  try {
    return op.point(readAxes(op, values));
  } catch (error) {
    if (error instanceof UserError) return undefined;
    throw error;
  }
}

/** The axes of `point` as a row has them. */
export function textKey<P>(op: Op<P>, point: P): AxisColumns {
  const { m, n, k, ...key } = op.key(point);
  return { ...key, m: `${m}`, n: `${n}`, k: `${k}` };
}

/** An epilogue hardly changes which kernel is fastest. */
const EPILOGUE = "epilogue";

/** Where a key of a row, or of a point, is. */
export function placeOf<P>(op: Op<P>, key: AxisColumns): Place {
  const values = valuesAt(op, key);
  const sizes: number[] = [];
  const names: string[] = [];
  for (const { name, values: allowed, optional } of op.axes) {
    const value = values.get(name) ?? "";
    if (typeof allowed === "string" && !optional && /^[\d+]+$/.test(value)) {
      // Of a list: how much it is in all, and how uneven.
      const list = value.split("+").map(Number);
      const sum = list.reduce((a, b) => a + b, 0);
      sizes.push(Math.log2(sum || 1));
      if (allowed === "sizes") sizes.push(Math.log2(Math.max(1, ...list)));
    } else if (name !== EPILOGUE) names.push(value);
  }
  return {
    text: [...values].flat().join("\0"),
    sizes,
    names,
    epilogue: values.get(EPILOGUE) ?? "",
  };
}

/** The squared distance of a power of two between two sizes: of 32 and 33, not of 33 and 64. */
const STEP = 0.3;
/** The squared distance of another epilogue. */
const OTHER_EPILOGUE = 0.06;
/** Types whose kernels differ by an instruction alone. */
const FLOAT16 = ["bf16", "f16"];
/** The squared distance of two of these types. */
const OTHER_FLOAT16 = 0.3;

/** Returns whether two names are equal, or types that hardly change which kernel is fastest. */
function isAlike(a: string | undefined, b: string | undefined): boolean {
  return a === b || [a, b].every((name) => FLOAT16.includes(name ?? ""));
}

/** Returns how many names of two points are not alike. */
export function otherNames(a: Place, b: Place): number {
  return a.names.filter((name, i) => !isAlike(name, b.names[i])).length;
}

/** The squared distance of two points whose names are alike. */
export function distance(a: Place, b: Place): number {
  const isOtherType = a.names.some((name, i) => name !== b.names[i]);
  const named = (a.epilogue === b.epilogue ? 0 : OTHER_EPILOGUE) +
    (isOtherType ? OTHER_FLOAT16 : 0);
  return a.sizes.reduce((sum, size, i) => {
    const other = b.sizes[i] ?? 0;
    const steps = Math.ceil(size) - Math.ceil(other);
    return sum + (size - other) ** 2 + STEP * steps ** 2;
  }, named);
}
