/**
 * Rows of two sources that are about the same case.
 *
 * @module
 */

import type { CsvRow } from "../../bench/row/csv_row.ts";
import { UserError } from "../../bench/model/errors.ts";
import { caseOf, identityOf } from "../../bench/row/case_key.ts";
import { KEY_COLUMNS, PLACE_COLUMNS } from "../../bench/row/row.ts";

export { identityOf } from "../../bench/row/case_key.ts";

/** A row, and where it stands. */
export interface Placed {
  readonly file: string;
  readonly line: number;
  readonly row: CsvRow;
  /** What {@linkcode identityOf} says of the row, where it is known already. */
  readonly identity?: string;
}

/** The rows of one case on either side: both, or one of them. */
export interface Pair<R> {
  readonly base?: R;
  readonly next?: R;
}

/**
 * Pairs in the order of `base`, then those that only `next` has. Rows of the same case on
 * the same device are a pair; of what is left, rows of the same case are one too if there
 * is one on either side, so that a change of device is said and not two rows lost.
 *
 * @throws {UserError} Where one side has a case on a device twice, with both places.
 */
export function join<R extends Placed>(
  base: readonly R[],
  next: readonly R[],
): readonly Pair<R>[] {
  const left = new Map<string, R>();
  for (const one of next) add(left, one);
  const seen = new Map<string, R>();
  const pairs: { base?: R; next?: R }[] = [];
  const lonely: { base?: R; next?: R }[] = [];
  for (const one of base) {
    const identity = add(seen, one);
    const other = left.get(identity);
    const pair = other === undefined
      ? { base: one }
      : { base: one, next: other };
    if (other === undefined) lonely.push(pair);
    else left.delete(identity);
    pairs.push(pair);
  }
  if (lonely.length > 0 && left.size > 0) adopt(lonely, left);
  for (const one of left.values()) pairs.push({ next: one });
  return pairs;
}

/** Gives rows in `left` to the `lonely` pair of the same case on another device. */
function adopt<R extends Placed>(
  lonely: readonly { base?: R; next?: R }[],
  left: Map<string, R>,
): void {
  const bases = Map.groupBy(lonely, ({ base }) => caseOf(base!.row));
  for (const [name, nexts] of Map.groupBy(left, ([, r]) => caseOf(r.row))) {
    const [pair, ...more] = bases.get(name) ?? [];
    if (pair === undefined || more.length > 0 || nexts.length > 1) continue;
    const [identity, row] = nexts[0]!;
    pair.next = row;
    left.delete(identity);
  }
}

function add<R extends Placed>(rows: Map<string, R>, one: R): string {
  const identity = one.identity ?? identityOf(one.row);
  const other = rows.get(identity);
  if (other !== undefined) {
    throw new UserError(
      `Cannot compare: ${one.file} line ${one.line} is the same case on the same device as ${other.file} line ${other.line}, columns ${
        KEY_COLUMNS[0]
      } to ${PLACE_COLUMNS.at(-1)}; name one of the two`,
    );
  }
  rows.set(identity, one);
  return identity;
}
