/**
 * The cases that are to be measured again, among those that these sources have.
 *
 * @module
 */

import type { Selection } from "../../bench/model/settings.ts";
import { EXIT, UserError } from "../../bench/model/errors.ts";
import { keyOf, keyText } from "../../bench/row/row.ts";
import type {
  Case,
  Overrides,
  PointSet,
  Suite,
} from "../../bench/model/suite.ts";
import { titleOf } from "../../report/diff/diff.ts";
import type { Taken } from "../devices.ts";
import type { SourcedRow } from "../read_rows.ts";
import { casesOf } from "../select.ts";

/** A pair that is measured again. */
export interface Doubt {
  readonly base: SourcedRow;
  readonly next: SourcedRow;
}

/** That rows cannot be measured again, and why. */
export function cannot(why: string): UserError {
  return new UserError(`Cannot confirm: ${why}`, EXIT.nothing);
}

/** Cases, and what a worker needs to make them again. */
export interface Found {
  readonly selection: Selection;
  /** By key text. */
  readonly cases: ReadonlyMap<string, Case>;
}

/** A selection that has every case of `doubts`. @throws {UserError} Where none has. */
export function selectionOf(
  doubts: readonly Doubt[],
  { suites, names, taken }: {
    readonly suites: readonly Suite[];
    readonly names: readonly string[];
    readonly taken: Taken;
  },
): Found {
  const rows = doubts.map(({ next }) => next.row);
  const wanted = new Set(rows.map(keyText));
  const sizes = (axis: "m" | "n" | "k") => [
    ...new Set(rows.map((row) => Number(row[axis]))),
  ];
  const [m, n, k] = [sizes("m"), sizes("n"), sizes("k")];
  const tries: readonly (readonly [PointSet, Overrides])[] = [
    ["all", {}],
    ["quick", {}],
    ["all", { m, k }],
    ["all", { m, n, k }],
  ];
  for (const [points, overrides] of tries) {
    const selection: Selection = {
      suites: names.length > 0 ? names : suites.map(({ name }) => name),
      kernels: [...new Set(rows.map(({ kernel }) => kernel))],
      backend: taken.backend.name,
      device: taken.info.index,
      points,
      overrides,
      where: {},
    };
    const all = new Map(
      [...casesOf(suites, selection)].map((c) => [keyText(keyOf(c)), c]),
    );
    if ([...wanted].every((key) => all.has(key))) {
      const cases = [...all].filter(([key]) => wanted.has(key));
      return { selection, cases: new Map(cases) };
    }
  }
  throw cannot(
    `these sources no longer have all of the ${wanted.size} cases, such as ${
      titleOf(rows[0]!)
    }; name a suite of your own with --suite`,
  );
}
