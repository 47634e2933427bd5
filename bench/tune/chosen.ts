/**
 * The config that was chosen for a case.
 *
 * @module
 */

import type { Values } from "../model/grid.ts";
import type { RowBase } from "../row/row.ts";

/** A config and what choosing it took. */
export interface Choice {
  readonly config: Values;
  readonly by: RowBase["config_by"];
  /** Configs that were timed. */
  readonly tried: number;
  readonly ms: number;
  /** What else is to be said; empty where nothing is. */
  readonly note: string;
}
