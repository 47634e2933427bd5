/**
 * Makes the tables of an export: for each value of every axis but M, the plans by M.
 *
 * @module
 */

import type { Axis } from "../../../bench/model/axes.ts";
import { readAxes } from "../../../bench/model/axes.ts";
import { CaseError, UserError } from "../../../bench/model/errors.ts";
import {
  formatValues,
  type Scalar,
  type Values,
} from "../../../bench/model/grid.ts";
import type { Op } from "../../../bench/model/op.ts";
import type { Case } from "../../../bench/model/suite.ts";
import { keyOf } from "../../../bench/row/row.ts";
import { ordered } from "../../../bench/tune/levels.ts";
import { hintsFor } from "../../../session/hints.ts";
import { callSuite } from "../../../session/suite_calls.ts";
import { type PlanTarget, recordPlan } from "./record.ts";
import { mergeRows, type PlanRow, type PointPlan } from "./rows.ts";

/** The axis that rows of a table are ranges of. */
export const ROW_AXIS = "m";

/** The plans of one value of every axis but M. */
export interface PlanTable {
  /**
   * Two values of each axis but M, in the order of the operation: the value itself, and what a
   * caller who leaves the axis out passes, where that is the same; 0 stands for none.
   */
  readonly key: readonly (readonly [number, number])[];
  /** Its types, layout, parameters, N and K, for readers. */
  readonly label: string;
  /** The operands that its points have. */
  readonly operands: readonly string[];
  readonly rows: readonly PlanRow[];
}

/** Returns the axes that are fields of a table's key. */
export function keyAxes({ axes }: Pick<Op<unknown>, "axes">): readonly Axis[] {
  return axes.filter(({ name }) => name !== ROW_AXIS);
}

/**
 * Returns the number of `value` on `axis`: a size as it is, a word by its place, from -1 down, and
 * one of a list by its place, from 1.
 */
export function numberOf({ values, words = [] }: Axis, value: Scalar): number {
  const word = words.indexOf(`${value}`);
  if (word >= 0) return -1 - word;
  if (typeof values === "string") return Number(value);
  return 1 + values.findIndex((one) => `${one}` === `${value}`);
}

/**
 * Makes the tables of `cases`, which are of `op`. Of cases of one point the first that can run is
 * taken.
 *
 * @param step Is called after each point.
 * @throws {UserError} Where no case of a point can be exported.
 */
export function tablesOf(
  cases: readonly Case[],
  { op, step, ...target }: PlanTarget & {
    readonly op: Op<unknown>;
    readonly step: () => void;
  },
): readonly PlanTable[] {
  const groups = new Map<
    string,
    Omit<PlanTable, "rows"> & { readonly plans: PointPlan[] }
  >();
  const points = Map.groupBy(cases, ({ problem }) => problem.title);
  for (const [title, own] of points) {
    const [first] = own;
    const key = keyOfPoint(op, first!);
    const text = JSON.stringify(key);
    const group = groups.get(text) ?? {
      key,
      label: labelOf(first!),
      operands: first!.problem.operands.map(({ name }) => name),
      plans: [],
    };
    groups.set(text, group);
    const m = first!.problem.key.m;
    group.plans.push({ m, plan: planOf(title, own, target) });
    step();
  }
  return [...groups.values()].map(({ plans, ...rest }) => ({
    ...rest,
    rows: mergeRows(plans),
  }));
}

function labelOf(one: Case): string {
  const { a_type, b_type, layout, params, n, k } = keyOf(one);
  const types = [...new Set([a_type, b_type])].filter(Boolean).join(" x ");
  return [types, layout, params, `N=${n} K=${k}`].filter(Boolean).join(" ");
}

/** The plan of the first of `cases`, all of one point, that can be exported. */
function planOf(title: string, cases: readonly Case[], target: PlanTarget) {
  const { info } = target;
  const reasons: string[] = [];
  for (const c of cases) {
    try {
      return callSuite(() => recordPlan(c, configOf(c, target), target));
    } catch (error) {
      if (!(error instanceof CaseError)) throw error;
      reasons.push(`${c.kernel}: ${error.message}`);
    }
  }
  throw new UserError(
    `Cannot export ${title} for ${info.arch}: ${
      reasons.join("; ")
    }; choose other sizes or another kernel`,
  );
}

/** The config of a case: the recorded one of the nearest shape, or the first of its kernel. */
function configOf(c: Case, { info, pdl }: PlanTarget): Values {
  const why = c.unsupported(info);
  if (why !== undefined) throw new CaseError("unsupported", why);
  const all = [...(c.follows ?? c).candidates(info)];
  const legal = all.filter(({ illegal }) => illegal === undefined);
  const hint = hintsFor(info, pdl).of(keyOf(c.follows ?? c), legal);
  const [first] = ordered(legal, hint);
  if (first !== undefined) return first.config;
  throw new CaseError(
    "unsupported",
    all[0]?.illegal ?? "it has no config for this shape",
  );
}

/** {@linkcode PlanTable.key} of a point. */
function keyOfPoint(
  op: Op<unknown>,
  { place, problem }: Case,
): PlanTable["key"] {
  if (!("values" in place)) throw new Error("edge cases are not exported");
  const values = readAxes(op, place.values);
  const wanted = formatValues({ ...problem.key });
  const isSame = (other: Values) => {
    try {
      return formatValues({ ...op.key(op.point(other)) }) === wanted;
    } catch (error) {
      if (error instanceof UserError) return false;
      throw error;
    }
  };
  const point = op.point(values);
  return keyAxes(op).map((axis) => {
    const { [axis.name]: own, ...others } = values;
    const value = own ??
      impliedBy(point, axis).find((one) =>
        isSame({ ...others, [axis.name]: one })
      );
    const number = value === undefined ? 0 : numberOf(axis, value);
    return [number, isSame(others) ? 0 : number];
  });
}

/** The values that an axis may have where none is given: the point's own, or one of a list. */
function impliedBy(
  point: unknown,
  { name, values }: Axis,
): readonly Scalar[] {
  if (typeof values !== "string") return values;
  const own = Object.entries(point ?? {}).find(([field]) => field === name);
  return typeof own?.[1] === "number" ? [own[1]] : [];
}
