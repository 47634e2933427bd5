/**
 * Deals cases among devices and shards by expected cost, and keeps which shard a run was.
 *
 * @module
 */

import { gunzipSync, gzipSync } from "node:zlib";
import {
  array,
  check,
  type InferOutput,
  number,
  pipe,
  readonly,
  strictObject,
  string,
} from "valibot";
import { readBytesIfThere, readIfThere } from "../../bench/files/disk.ts";
import { hashOf } from "../../bench/files/hash.ts";
import {
  canonicalJson,
  isSealed,
  parseJson,
  seal,
  UNSEALED,
} from "../../bench/files/json_file.ts";
import { replaceFile } from "../../bench/files/replace.ts";
import { UserError } from "../../bench/model/errors.ts";
import type { Case } from "../../bench/model/suite.ts";
import {
  CASE_COLUMNS,
  type CaseKey,
  caseText,
  keyOf,
} from "../../bench/row/row.ts";
import type { RunInfo } from "../../bench/worker/journal.ts";
import { weightOf } from "../remaining.ts";

/** Cases of a problem are dealt one by one where together they are more than this share of a part. */
const MOST_OF_PART = 0.25;

/** Expected costs of cases. */
type Weigh = (c: Case) => number;

const byWork: Weigh = (c) => weightOf(c.problem.work, c.backend);

/**
 * Deals `cases` among `count` shards of about the same cost: the same cases give the same shards on
 * every host. All kernels of a shape are in one shard, so that its rows can be compared.
 *
 * @returns The cases of each shard, in their order; of fewer shapes than shards some have none.
 */
export function dealPoints(
  cases: readonly Case[],
  count: number,
): readonly (readonly Case[])[] {
  const points = groups(cases, (c) => caseText({ ...keyOf(c), kernel: "" }));
  return dealt(cases, points, { count, weigh: byWork });
}

/**
 * Deals `cases` among `count` parts of about the same cost: the same cases give the same parts.
 * Cases of one problem stay together, as they share operands and reference, unless they cost too
 * much; a case stays with the one whose config it takes.
 *
 * @param weigh Returns the expected cost of a case. @default {by its least work}
 * @returns The cases of each part, in their order.
 */
export function deal(
  cases: readonly Case[],
  count: number,
  weigh: Weigh = byWork,
): readonly (readonly Case[])[] {
  const most = MOST_OF_PART * costOf(cases, weigh) / count;
  const units = groups(cases, ({ runner }) => runner)
    .flatMap((own) => groups(own, ({ problem }) => problem))
    .flatMap((own) =>
      costOf(own, weigh) <= most
        ? [own]
        : groups(own, (c) => c.follows?.kernel ?? c.kernel)
    );
  return dealt(cases, units, { count, weigh });
}

function costOf(cases: readonly Case[], weigh: Weigh): number {
  return cases.reduce((sum, c) => sum + weigh(c), 0);
}

/** Gives each of `units` to the part that costs the least so far, the costliest first. */
function dealt(
  cases: readonly Case[],
  units: readonly (readonly Case[])[],
  { count, weigh }: { readonly count: number; readonly weigh: Weigh },
): readonly (readonly Case[])[] {
  const parts = Array.from({ length: count }, () => ({
    cost: 0,
    cases: new Set<Case>(),
  }));
  const sorted = units.map((own) => ({
    own,
    cost: costOf(own, weigh),
    // Or all cases of a kernel might come to one part, where it has as many kernels as parts.
    order: hashOf(caseText(keyOf(own[0]!))),
  })).toSorted((a, b) => b.cost - a.cost || (a.order < b.order ? -1 : 1));
  for (const { own, cost } of sorted) {
    const part = parts.reduce((a, b) => b.cost < a.cost ? b : a);
    part.cost += cost;
    for (const one of own) part.cases.add(one);
  }
  return parts.map((part) => cases.filter((c) => part.cases.has(c)));
}

function groups<T>(all: readonly T[], by: (one: T) => unknown): T[][] {
  return [...Map.groupBy(all, by).values()];
}

const shardFileSchema = pipe(
  strictObject({
    shard: strictObject({ index: number(), count: number() }),
    run: string(),
    device: string(),
    arch: string(),
    harness: string(),
    commit: string(),
    /** A hash of settings and repeats. */
    settings: string(),
    /** A hash of the keys of all cases. */
    cases: string(),
    /** The number of cases of each shard. */
    counts: pipe(array(number()), readonly()),
    sum: string(),
  }),
  check((content) => isSealed(content), UNSEALED),
);

/** What `bench --shard` leaves beside its rows: which shard of what they are. */
export type ShardFile = Readonly<InferOutput<typeof shardFileSchema>>;

/** Matches the names of shard files. Beside each is a list of the cases of all shards. */
const SHARD_FILE = /^shard-\d+-of-\d+\.json$/;

function casesBeside(path: string): string {
  return path.replace(/\.json$/, ".cases.gz");
}

/**
 * Writes into `out` which shard the rows of a run are.
 *
 * @param parts The cases of each shard.
 * @throws {UserError} Where the disk refuses.
 */
export function writeShardFile(
  out: string,
  { run, info, commit, parts }: {
    /** Names the run in its rows. */
    readonly run: string;
    readonly info: RunInfo;
    readonly commit: string;
    readonly parts: readonly (readonly Case[])[];
  },
): void {
  const { selection, device, arch, harness, runs } = info;
  const shard = selection.shard!;
  const { cacheDir: _, timingCache: __, ...settings } = info.settings;
  const keys = parts.flat().map((c) => caseText(keyOf(c)));
  const content = {
    shard,
    run,
    device,
    arch,
    harness,
    commit,
    settings: hashOf(canonicalJson({ settings, runs })),
    cases: hashOf(...keys),
    counts: parts.map(({ length }) => length),
  };
  const path = `${out}/shard-${shard.index}-of-${shard.count}.json`;
  replaceFile(casesBeside(path), new Uint8Array(gzipSync(keys.join("\n"))));
  replaceFile(path, `${JSON.stringify(seal(content), null, 2)}\n`);
}

/** Reads which shards are in `folder`; empty where there are none. @throws {UserError} */
export function shardsIn(
  folder: string,
): readonly (ShardFile & { readonly path: string })[] {
  return [...Deno.readDirSync(folder)].map(({ name }) => name)
    .filter((name) => SHARD_FILE.test(name)).toSorted().map((name) => {
      const path = `${folder}/${name}`;
      const text = readIfThere(path) ?? "";
      return {
        ...parseJson(shardFileSchema, text, (why) => damaged(path, why)),
        path,
      };
    });
}

/**
 * Reads the keys of the cases of each shard beside the file at `path`.
 *
 * @throws {UserError} Where they are damaged.
 */
export function casesOfShards(
  { path, cases, counts }: ShardFile & { readonly path: string },
): readonly (readonly CaseKey[])[] {
  const file = casesBeside(path);
  const keys = linesOf(file);
  if (hashOf(...keys) !== cases) throw damaged(file, UNSEALED);
  let end = 0;
  return counts.map((count) =>
    keys.slice(end, end += count).map((text) => {
      const values: readonly string[] = JSON.parse(text);
      const columns = CASE_COLUMNS.map((name, i) => [name, values[i]!]);
      return Object.fromEntries(columns) as CaseKey;
    })
  );
}

function linesOf(file: string): readonly string[] {
  const bytes = readBytesIfThere(file);
  if (bytes === undefined) throw damaged(file, "it is not there");
  try {
    return new TextDecoder().decode(gunzipSync(bytes)).split("\n");
  } catch (cause) {
    throw damaged(file, cause instanceof Error ? cause.message : `${cause}`);
  }
}

function damaged(path: string, why: string): UserError {
  return new UserError(
    `Cannot read ${path}: ${why}; run that shard again with \`bench --shard\``,
  );
}
