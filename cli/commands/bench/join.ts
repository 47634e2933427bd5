/**
 * Joins the rows of shards that ran on a cluster.
 *
 * @module
 */

import { unlessMissing } from "../../../bench/files/disk.ts";
import { EXIT, UserError } from "../../../bench/model/errors.ts";
import type { CsvRow } from "../../../bench/row/csv_row.ts";
import { streamRows } from "../../../bench/row/read_csv.ts";
import { csvFiles } from "../../../session/read_rows.ts";
import { shardsIn } from "../../../session/share/shards.ts";
import type { ShardFiles } from "../../../session/share/slurm_run.ts";
import { logLine } from "../../terminal/output.ts";
import { importRecorded } from "../import/recorded.ts";
import { printMissing, shardsOf, sourcesOf } from "../import/shards.ts";

/** The rows of all shards, where they are, and the names of their runs. */
export interface Joined {
  readonly rows: readonly CsvRow[];
  readonly paths: readonly string[];
  readonly runs: readonly string[];
}

/** Returns whether a shard left its rows. */
export function hasRows({ rows }: ShardFiles): boolean {
  return isFolder(rows) && shardsIn(rows).length > 0;
}

function isFolder(path: string): boolean {
  return unlessMissing(() => Deno.statSync(path))?.isDirectory ?? false;
}

/**
 * Puts the rows of all shards into the folder `into`, in the place of older ones.
 *
 * @throws {UserError} Where they do not belong together, or a case has no row.
 */
export async function joinShards(
  shards: readonly ShardFiles[],
  into: string,
): Promise<Joined> {
  const files = await csvFiles(
    shards.map(({ rows }) => rows).filter(isFolder),
  );
  const found = shardsOf(files);
  if (printMissing(found, files, logLine) > 0) {
    throw new UserError(
      "Cannot join the shards: rows are missing, as said above; remove the .exit file of that shard, then give the command again",
      EXIT.failed,
    );
  }
  const sources = sourcesOf(found, files);
  const paths = await importRecorded({ sources, into, replaces: true });
  const rows = files.flatMap((file) =>
    [...streamRows(file)].map(({ row }) => row)
  );
  return { rows, paths, runs: found.map(({ run }) => run) };
}
