/**
 * The folder of an unfinished run: what the run is, and the lock by which one process has it.
 *
 * @module
 */

import {
  onDisk,
  readable,
  readIfThere,
  removeIfThere,
  unlessMissing,
} from "../files/disk.ts";
import { demandLock } from "../files/lock.ts";
import { UserError } from "../model/errors.ts";
import { type Clock, realClock } from "./clock.ts";
import {
  array,
  exactOptional,
  looseObject,
  number,
  object,
  pipe,
  readonly,
  regex,
  string,
} from "valibot";
import {
  canonicalJson,
  isSealedOrOld,
  parseJson,
  UNSEALED,
} from "../files/json_file.ts";
import { createHash, randomBytes } from "node:crypto";
import type { Selection, Settings } from "../model/settings.ts";

/** A locked folder. */
export class RunFolder implements Disposable {
  /** The path of the folder. */
  readonly path: string;
  readonly #lock: Disposable;

  /**
   * Makes and locks the folder `name` under `root`.
   *
   * @param clock Measures how long it waits for the lock.
   * @throws {UserError} Where a living process has it, or the disk refuses.
   */
  constructor(root: string, name: string, clock: Clock = realClock) {
    this.path = `${root}/${name}`;
    this.#lock = lockFolder(this.path, clock);
    onDisk(root, () => {
      // What a process left that was stopped while it removed its finished run.
      for (const entry of Deno.readDirSync(root)) {
        if (/\.finished-\d+$/.test(entry.name)) {
          removeIfThere(`${root}/${entry.name}`);
        }
      }
    });
  }

  /** The path of a file in it. */
  file(name: string): string {
    return `${this.path}/${name}`;
  }

  /** Removes all that is in it. */
  empty(): void {
    onDisk(this.path, () => {
      for (const { name } of Deno.readDirSync(this.path)) {
        if (name !== "lock") removeIfThere(this.file(name));
      }
    });
  }

  /** Removes and unlocks it. */
  finish(): void {
    // Renamed first: a folder that is half removed must not be taken for a run.
    const moved = `${this.path}.finished-${Deno.pid}`;
    onDisk(this.path, () => {
      Deno.renameSync(this.path, moved);
      removeIfThere(moved);
    });
  }

  /** Unlocks it. */
  [Symbol.dispose](): void {
    this.#lock[Symbol.dispose]();
  }
}

/**
 * Milliseconds for a process that was just forked to become another program: until then it
 * has the locks of the one that forked it, also those that this one has given back.
 */
const FORK_MS = 1_000;

function lockSoon(file: Deno.FsFile, clock: Clock): boolean {
  const until = clock.now() + FORK_MS;
  while (!file.tryLockSync(true)) {
    if (clock.now() > until) return false;
    clock.block(10);
  }
  return true;
}

/**
 * The lock of a folder. The operating system gives it back when its owner ends, however
 * that ends, so there is no stale lock to recognise.
 */
function lockFolder(folder: string, clock: Clock): Disposable {
  const path = `${folder}/lock`;
  return onDisk(folder, () => {
    while (true) {
      Deno.mkdirSync(folder, { recursive: true });
      demandLock(path, folder);
      const file = Deno.openSync(path, {
        create: true,
        read: true,
        write: true,
      });
      if (!lockSoon(file, clock)) {
        file.close();
        const pid = readIfThere(path)?.trim() || "unknown";
        throw new UserError(
          `Cannot write ${folder}: process ${pid} is at the same run; wait until it has ended, or end it, then give the same command again`,
        );
      }
      // Its last owner may have moved the folder away between opening and locking.
      const there = unlessMissing(() => Deno.lstatSync(path));
      if (there?.ino === file.statSync().ino) {
        file.truncateSync();
        file.writeSync(new TextEncoder().encode(`${Deno.pid}\n`));
        return file;
      }
      file.close();
    }
  });
}

/** The content of `run.json`. */
export interface RunInfo extends RunIdentity {
  /** Names the run in its rows: no other has it. Missing in runs of before. */
  readonly run?: string | undefined;
  /** The command line. */
  readonly command: readonly string[];
  /** When it was first given, ISO 8601. */
  readonly started: string;
}

// Selection and settings are compared with those of the command, and not read by field.
const runSchema = object({
  run: exactOptional(pipe(string(), regex(/^[\w-]+$/))),
  harness: string(),
  device: string(),
  arch: string(),
  started: string(),
  selection: looseObject({}),
  settings: looseObject({}),
  runs: number(),
  command: pipe(array(string()), readonly()),
  out: exactOptional(string()),
  sum: exactOptional(string()),
});

/**
 * Parses the text of a `run.json`.
 *
 * @param file Named in errors.
 * @param remedy What the user can do about a damaged one.
 * @throws {UserError} With the field, where it is damaged.
 */
export function parseRunInfo(
  text: string,
  file: string,
  remedy = "pass --fresh to measure everything again",
): RunInfo {
  const refuse = (why: string) =>
    new UserError(`Cannot read ${file}: ${why}; ${remedy}`);
  const content = parseJson(runSchema, text, refuse);
  if (!isSealedOrOld(content)) throw refuse(UNSEALED);
  const { sum: _, ...info }: Record<string, unknown> = content;
  return info as object as RunInfo;
}

/** An unfinished run, and where it is. */
export interface UnfinishedRun {
  readonly folder: string;
  readonly info: RunInfo;
}

/** Returns the runs below `root` that a living process is at; what cannot be read is none. */
export function runsInProgress(root: string): UnfinishedRun[] {
  const runs = unlessRefused(() => unfinishedRuns(root)) ?? [];
  return runs.filter((run) => unlessRefused(() => isInProgress(run)));
}

/** Returns whether a living process is at a run. @throws {UserError} Where the disk refuses. */
export function isInProgress({ folder }: UnfinishedRun): boolean {
  const path = `${folder}/lock`;
  return readable(path, () => {
    // Opening a pipe would never end.
    if (!unlessMissing(() => Deno.statSync(path))?.isFile) return false;
    using lock = unlessMissing(() => Deno.openSync(path));
    return lock !== undefined && !lock.tryLockSync();
  });
}

/**
 * Returns the runs below `root`. A folder without a `run.json` is none.
 *
 * @param refused Takes a line for each run that cannot be read. The command that goes on with it
 * refuses it.
 * @throws {UserError} Where `root` is there and cannot be read.
 */
export function unfinishedRuns(
  root: string,
  refused?: (line: string) => void,
): UnfinishedRun[] {
  const entries = readable(root, () =>
    unlessMissing(() => {
      if (Deno.statSync(root).isDirectory) return [...Deno.readDirSync(root)];
      throw new UserError(
        `Cannot read ${root}: it is not a folder; move it away`,
      );
    }));
  return (entries ?? []).filter(({ isDirectory }) => isDirectory).flatMap(
    ({ name }) => unlessRefused(() => runIn(`${root}/${name}`), refused) ?? [],
  );
}

function runIn(folder: string): UnfinishedRun | undefined {
  const file = `${folder}/run.json`;
  const text = readIfThere(file);
  return text === undefined ? undefined : {
    folder,
    info: parseRunInfo(text, file, `remove it with \`rm -r ${folder}\``),
  };
}

/** Runs `work`; where it throws a {@linkcode UserError}, `refused` takes its line. */
export function unlessRefused<T>(
  work: () => T,
  refused?: (line: string) => void,
): T | undefined {
  try {
    return work();
  } catch (error) {
    if (!(error instanceof UserError)) throw error;
    refused?.(error.message);
    return undefined;
  }
}

/**
 * The unfinished run below `root` that differs from `identity` in its version alone; nothing
 * where there is none.
 */
export function olderRun(
  root: string,
  identity: RunIdentity,
): UnfinishedRun | undefined {
  return unfinishedRuns(root).find(({ folder, info: { harness, out } }) =>
    harness !== identity.harness &&
    folder === `${root}/${fingerprint({ ...identity, harness, out })}` &&
    (out === undefined || out === identity.out)
  );
}

/** Returns a name for a run of `identity` that no other run has: its fingerprint and a number. */
export function uniqueName(identity: RunIdentity): string {
  return `${fingerprint(identity)}-${randomBytes(4).toString("hex")}`;
}

/** All that a run's results depend on besides sources, which are compared row by row. */
export interface RunIdentity {
  readonly selection: Selection;
  readonly settings: Settings;
  /** Repeats in fresh workers. */
  readonly runs: number;
  /** The harness's version. */
  readonly harness: string;
  /** The device's name, as the vendor gives it. */
  readonly device: string;
  readonly arch: string;
  /** The absolute path of the folder for its results. Runs of version 0.1 have none. */
  readonly out?: string | undefined;
}

/**
 * 12 hexadecimal digits, equal for equal identities. Where kernels and timings are kept
 * does not count.
 */
export function fingerprint(identity: RunIdentity): string {
  const { selection, runs, harness, device, arch, out } = identity;
  const { cacheDir: _, timingCache, ...own } = identity.settings;
  const settings = { ...own, remembers: timingCache !== undefined };
  const text = canonicalJson({
    selection,
    settings,
    runs,
    harness,
    device,
    arch,
    out,
  });
  return createHash("sha256").update(text).digest("hex").slice(0, 12);
}
