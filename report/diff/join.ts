/**
 * Pairs the rows of two sources that are of the same case.
 *
 * @module
 */

import { UserError } from "../../bench/model/errors.ts";
import { caseText, identityOf } from "../../bench/row/row.ts";
import type { SourcedRow } from "../../bench/row/read_csv.ts";

/** The rows of one case: of both sides, or of one. */
export interface Pair {
  readonly base?: SourcedRow;
  readonly next?: SourcedRow;
}

/**
 * Returns pairs in the order of `base`, then the rows that only `next` has. Rows of the same
 * case on the same device are a pair. A case that each side has once, but on different devices,
 * is a pair too, so that the change is reported and not two lost rows.
 *
 * @throws {UserError} Where one side has a case on a device in several published runs.
 */
export function join(
  base: readonly SourcedRow[],
  next: readonly SourcedRow[],
): readonly Pair[] {
  byKey(base);
  const left = byKey(next);
  const lonely: { base: SourcedRow; next?: SourcedRow }[] = [];
  const pairs = base.map((one): Pair => {
    const key = keyOf(one);
    const other = left.get(key);
    if (other !== undefined) {
      left.delete(key);
      return { base: one, next: other };
    }
    const pair = { base: one };
    lonely.push(pair);
    return pair;
  });
  if (lonely.length > 0 && left.size > 0) adopt(lonely, left);
  for (const one of left.values()) pairs.push({ next: one });
  return pairs;
}

/** Moves rows of `left` to the `lonely` pair of the same case on another device. */
function adopt(
  lonely: readonly { base: SourcedRow; next?: SourcedRow }[],
  left: Map<string, SourcedRow>,
): void {
  const bases = Map.groupBy(lonely, ({ base }) => caseText(base.row));
  for (const [name, nexts] of Map.groupBy(left, ([, r]) => caseText(r.row))) {
    const [pair, ...more] = bases.get(name) ?? [];
    if (pair === undefined || more.length > 0 || nexts.length > 1) continue;
    const [key, row] = nexts[0]!;
    pair.next = row;
    left.delete(key);
  }
}

function byKey(rows: readonly SourcedRow[]): Map<string, SourcedRow> {
  const found = new Map<string, SourcedRow>();
  for (const one of rows) {
    const key = keyOf(one);
    const other = found.get(key);
    if (other !== undefined) {
      throw new UserError(
        `Cannot compare: ${other.file} line ${other.line} and ${one.file} line ${one.line} are the same case on the same device, of two published runs; name the CSVs of one run`,
      );
    }
    found.set(key, one);
  }
  return found;
}

function keyOf({ identity, row }: SourcedRow): string {
  return identity ?? identityOf(row);
}
