/**
 * Keeps the known configs of cases before anything is timed: configs that somebody chose,
 * that a search found, or that ended their worker and are left out.
 *
 * @module
 */

import { CaseError } from "../model/errors.ts";
import { formatValues, type Values } from "../model/grid.ts";
import type { Candidate } from "../model/kernel.ts";
import {
  CASE_COLUMNS,
  type CaseKey,
  caseText,
  type RowBase,
} from "../row/row.ts";
import type { Hints } from "./hints.ts";
import type { TimingCache, TimingEntry, TimingKey } from "./timing_cache.ts";

/** Known configs of a job. Cases are named by the text of their keys. */
export interface KnownConfigs {
  /** The config that a case runs at: the winner of a search, or one that is asked for. */
  readonly chosen?: Readonly<Record<string, string>>;
  /** The only configs that a case may choose from, each to be timed to the end. */
  readonly among?: Readonly<Record<string, readonly string[]>>;
  /** Configs that ended a worker: a search leaves them out. */
  readonly crashed?: readonly LostConfig[];
  /** Milliseconds that searches for the config of a case took in workers that are gone. */
  readonly spent?: Readonly<Record<string, number>>;
}

/** Known configs, to which a run adds. */
export class ConfigBook {
  readonly #chosen: Map<string, string>;
  readonly #among: Readonly<Record<string, readonly string[]>>;
  /** Configs that a search leaves out, since they ended a worker. */
  readonly crashed: readonly LostConfig[];
  readonly #spent: Readonly<Record<string, number>>;
  readonly #found = new Map<string, Choice | CaseError>();

  /**
   * @param timings Configs found by earlier runs; without it none are looked up.
   * @param hints Configs that searches begin with; without it they begin with those of the model.
   */
  constructor(
    known: KnownConfigs = {},
    readonly timings?: TimingCache,
    readonly hints?: Hints,
  ) {
    this.#chosen = new Map(Object.entries(known.chosen ?? {}));
    this.#among = known.among ?? {};
    this.crashed = known.crashed ?? [];
    this.#spent = known.spent ?? {};
  }

  /** The config that the case of `key` runs at; nothing where none was chosen yet. */
  chosen(key: CaseKey): string | undefined {
    return this.#chosen.get(caseText(key));
  }

  /** Has the case of `key`, and those that follow it, run at `config` from now on. */
  choose(key: CaseKey, config: string): void {
    this.#chosen.set(caseText(key), config);
  }

  /** Keeps what a search of the case of `key` found, or how it failed. */
  keep(key: CaseKey, found: Choice | CaseError): void {
    this.#found.set(caseText(key), found);
  }

  /** What was kept for the case of `key`, once; nothing where it was not searched. */
  take(key: CaseKey): Choice | CaseError | undefined {
    const text = caseText(key);
    const found = this.#found.get(text);
    this.#found.delete(text);
    return found;
  }

  /** The only configs that the case of `key` may choose from; nothing where all may be. */
  among(key: CaseKey): readonly string[] | undefined {
    return this.#among[caseText(key)];
  }

  /** Milliseconds that earlier workers spent on searches for the config of the case of `key`. */
  spent(key: CaseKey): number {
    return this.#spent[caseText(key)] ?? 0;
  }

  /** Looks up the entry of an earlier run; nothing where there is none. */
  cached(key: TimingKey): TimingEntry | undefined {
    return this.timings?.query(key);
  }
}

/** A config and what choosing it took. */
export interface Choice {
  readonly config: Values;
  readonly by: RowBase["config_by"];
  /** Configs that were timed. */
  readonly tried: number;
  /** Of the search, also in workers that it ended. */
  readonly ms: number;
  /** A remark for the row; may be empty. */
  readonly note: string;
}

/** The failures after which a worker is gone, or is better replaced. */
export const LOSSES = ["crash", "timeout", "launch"] as const;

/** A config after which another worker went on. */
export interface LostConfig {
  /** The case that was searched. */
  readonly key: CaseKey;
  readonly config: string;
  readonly status: typeof LOSSES[number];
  readonly note: string;
}

/** A config made the device unusable. Its event is sent: the worker has to end. */
export class ConfigLostError extends Error {
  override name = "ConfigLostError";
}

/** The configs of a case without those that were lost. */
export interface RemainingConfigs {
  readonly left: readonly Candidate[];
  /** Those that are left out. */
  readonly lost: readonly LostConfig[];
}

/**
 * The most configs that a case may lose before its search keeps to those timed before: each
 * costs a worker, and each that hangs the whole timeout.
 */
const MOST_LOST = { timeout: 3, all: 8 };
/** A config of a kernel that was lost at so many shapes is tried at no other. */
const ENOUGH = 2;
/** The columns that cases of one kernel share when their shapes differ. */
const ALIKE = CASE_COLUMNS.filter((column) =>
  !["suite", "m", "n", "k"].includes(column)
);

/** Returns whether `event` is of a config that was lost. */
export function isLoss<T extends { readonly status: string }>(
  event: T,
): event is T & Pick<LostConfig, "status"> {
  return (LOSSES as readonly string[]).includes(event.status);
}

/**
 * The configs among `legal`, in their order, that a search for the case of `key` may try,
 * given `all` that were lost.
 *
 * @throws {CaseError} As the last that was lost, where none is left.
 */
export function withoutLost(
  legal: readonly Candidate[],
  key: CaseKey,
  all: readonly LostConfig[],
): RemainingConfigs {
  const here = caseText(key);
  const names = legal.map(({ config }) => formatValues(config));
  const known = all.filter(({ config }) => names.includes(config));
  const own = known.filter((one) => caseText(one.key) === here);
  const lost = [...own, ...oftenLost(key, known)].filter((one, i, list) =>
    list.findIndex(({ config }) => config === one.config) === i
  );
  if (lost.length === 0) return { left: legal, lost };
  const out = new Set(lost.map(({ config }) => config));
  // What comes before one that was lost was timed, and its worker lived on.
  const end = isTooMany(own)
    ? Math.max(...own.map(({ config }) => names.indexOf(config)))
    : legal.length;
  const left = legal.slice(0, end).filter((_, i) => !out.has(names[i]!));
  if (left.length > 0) return { left, lost };
  throw new CaseError(
    lost.at(-1)!.status,
    `No config is left to search: ${listed(lost)}`,
  );
}

/** Configs that were lost at enough of the shapes of what `key` computes. */
function oftenLost(
  key: CaseKey,
  all: readonly LostConfig[],
): readonly LostConfig[] {
  const same = all.filter((one) =>
    ALIKE.every((column) => one.key[column] === key[column])
  );
  return [...Map.groupBy(same, ({ config }) => config).values()]
    .filter((list) => new Set(list.map((o) => caseText(o.key))).size >= ENOUGH)
    .map(([first]) => first!);
}

function isTooMany(own: readonly LostConfig[]): boolean {
  const hung = own.filter(({ status }) => status === "timeout").length;
  return hung >= MOST_LOST.timeout || own.length >= MOST_LOST.all;
}

/** Formats the remark of a row about configs that were left out; empty for none. */
export function lostNote(lost: readonly LostConfig[]): string {
  return lost.length === 0 ? "" : `left out ${listed(lost)}`;
}

function listed(lost: readonly LostConfig[]): string {
  const reasons = Map.groupBy(lost, ({ status, note }) => `${status}: ${note}`);
  return [...reasons].map(([reason, own]) =>
    `${own.map(({ config }) => config).join(", ")} (${reason})`
  ).join(", ");
}
