/**
 * Checks what programs give to the library's functions, and makes what runs cases of it.
 *
 * @module
 */

import {
  array,
  boolean,
  check,
  function as func,
  type GenericSchema,
  guard,
  type InferOutput,
  instance,
  integer,
  literal,
  maxValue,
  minLength,
  minValue,
  number,
  optional,
  picklist,
  pipe,
  record,
  regex,
  safeParse,
  strictObject,
  string,
  union,
} from "valibot";
import { EMULATED } from "../../backends/emulator/names.ts";
import { formatIssue } from "../../bench/files/json_file.ts";
import { UserError } from "../../bench/model/errors.ts";
import type { Overrides } from "../../bench/model/axes.ts";
import { FILLS } from "../../bench/model/inputs.ts";
import {
  DEFAULTS,
  type DeviceId,
  type DeviceSet,
  isTimer,
  MOST_MS,
  MOST_RUNS,
  type Shard,
} from "../../bench/model/settings.ts";
import { type FlatRow, flatRowSchema } from "../../bench/row/flat_row.ts";
import type { Row } from "../../bench/row/row.ts";
import { MOST_LEVEL } from "../../bench/tune/levels.ts";
import { VERDICTS } from "../../report/diff/verdict.ts";
import { METRICS } from "../../report/table/metrics.ts";
import type { SweepObserver } from "../findings.ts";
import { LATEST, RUNS } from "../home.ts";
import {
  type Choice,
  demandCold,
  demandPeersBackend,
  demandShardFolder,
  type PeerChoice,
  type Running,
  settingsOf,
  type Timing,
  type Tuning,
} from "../options.ts";

/** What happens while cases run. */
export type RunEvent =
  | { readonly event: "note"; readonly text: string }
  | { readonly event: "row"; readonly row: FlatRow }
  | {
    readonly event: "progress";
    /** Rows so far, of `total`. */
    readonly done: number;
    readonly total: number;
    readonly failed: number;
    /** Seconds until the end; missing while too little is known. */
    readonly left?: number;
  };

function within(least: number, most: number) {
  const expected = `a number from ${least} to ${most}`;
  return pipe(
    number(),
    minValue(least, `it must be ${expected}`),
    maxValue(most, `it must be ${expected}`),
  );
}

function whole(least: number, most = Number.MAX_SAFE_INTEGER) {
  return pipe(
    within(least, most),
    integer("it must be a whole number"),
  );
}

const maybe = <S extends GenericSchema>(schema: S) =>
  optional(schema, undefined);
const names = optional(array(string()), []);
const values = array(union([string(), number()]));
const TIMEOUT_S = 60;
const MOST_SHARDS = 10_000;
const MOST_S = 1e6;

const common = {
  suites: names,
  kernels: names,
  axes: optional(record(string(), values), {}),
  where: optional(record(string(), values), {}),
  quick: optional(boolean(), false),
  backend: maybe(string()),
  seed: optional(whole(0), DEFAULTS.seed),
  fill: optional(picklist(FILLS), DEFAULTS.fill),
  prebuilt: optional(boolean(), false),
  kernelCache: maybe(string()),
  timeout: optional(within(0.1, MOST_S), TIMEOUT_S),
  level: optional(whole(0, MOST_LEVEL), DEFAULTS.level),
  timingCache: maybe(string()),
  noTimingCache: optional(boolean(), false),
  errorOnCacheMiss: optional(boolean(), false),
  workspace: maybe(whole(0)),
  python: maybe(string()),
  shard: maybe(
    pipe(
      strictObject({ index: whole(1), count: whole(1, MOST_SHARDS) }),
      check(
        ({ index, count }) => index <= count,
        "its index must be at most its count",
      ),
    ),
  ),
  signal: maybe(instance(AbortSignal)),
  onEvent: maybe(func()),
};

const checkSchema = strictObject({
  ...common,
  device: optional(union([whole(0), picklist(EMULATED)]), 0),
});

const benchSchema = strictObject({
  ...common,
  device: optional(whole(0), 0),
  devices: maybe(
    union([
      literal("all"),
      pipe(array(whole(0)), minLength(1, "it must name one")),
    ]),
  ),
  warmup: optional(within(0, MOST_MS), DEFAULTS.warmup),
  rep: maybe(within(0, MOST_MS)),
  precision: maybe(within(0.01, 100)),
  search: optional(within(0, MOST_MS), DEFAULTS.search),
  timer: optional(
    pipe(
      string(),
      guard(isTimer, "it must be do_bench, graph, batch:N or chain:N"),
    ),
    DEFAULTS.timer,
  ),
  cache: optional(picklist(["cold", "warm"]), DEFAULTS.cache),
  flush: optional(picklist(["zero", "read"]), DEFAULTS.flush),
  peers: maybe(
    pipe(
      string(),
      regex(
        /^(torch|[^,]*\.py(:\w+)?)(,(torch|[^,]*\.py(:\w+)?))*$/,
        "it must be torch, or a Python file and its function, such as ./mine.py:fn",
      ),
    ),
  ),
  runs: optional(whole(1, MOST_RUNS), 1),
  out: optional(string(), LATEST),
  fresh: optional(boolean(), false),
  unfinished: optional(string(), RUNS),
});

const paths = union([string(), array(string())]);
const verdicts = maybe(array(picklist(VERDICTS)));

/** The schema of the two sides that `diff()` takes. */
export const sidesSchema = strictObject({ base: paths, next: paths });

/** The schema of the options of `diff()`. */
export const diffSchema = strictObject({
  threshold: maybe(number()),
  minUs: maybe(number()),
  config: maybe(string()),
  failOn: verdicts,
  only: verdicts,
});

/** The schema of the rows that `table()` takes. */
export const rowsSchema = strictObject({ rows: array(flatRowSchema) });

/** The schema of the options of `table()`. */
export const tableSchema = strictObject({
  metrics: optional(array(picklist(METRICS)), []),
  baseline: maybe(string()),
  timer: maybe(string()),
  format: optional(picklist(["text", "md"]), "text"),
  width: optional(within(1, Infinity), Infinity),
  color: optional(boolean(), false),
});

/** Options of `check()` and `bench()`: those of the commands. All of them may be left out. */
export interface RunOptions
  extends
    Partial<Omit<Choice, "overrides" | "where">>,
    Partial<Running>,
    Partial<Tuning>,
    Partial<Pick<PeerChoice, "python">> {
  /** @default {the first that has a device} */
  readonly backend?: string | undefined;
  /** Values of axes in the place of the suites' own. */
  readonly axes?: Overrides;
  /** Values of axes to which the cases are limited. */
  readonly where?: Overrides;
  /** Takes one of several parts of the cases. */
  readonly shard?: Shard | undefined;
  /** Aborting it ends the worker; the call then returns the rows that it has. */
  readonly signal?: AbortSignal;
  /** Takes what happens while cases run. */
  readonly onEvent?: (event: RunEvent) => void;
}

/** Options of `check()`. */
export interface CheckOptions extends RunOptions {
  /** Its index, or the name of an emulated one. @default {0} */
  readonly device?: DeviceId;
}

/** Options of `bench()`. */
export interface BenchOptions
  extends RunOptions, Partial<Timing>, Partial<PeerChoice> {
  /** Its index. @default {0} */
  readonly device?: number;
  /** Several of one kind that share the cases. @default {`device` alone} */
  readonly devices?: DeviceSet | undefined;
  /** Repeats in fresh workers. @default {1} */
  readonly runs?: number;
  /** Folder of CSVs. @default {".runs/latest"} */
  readonly out?: string;
  /** Discard an unfinished run of the same call. @default {false} */
  readonly fresh?: boolean;
  /** Folder of unfinished runs. @default {".runs"} */
  readonly unfinished?: string;
}

/** A signal that nobody aborts. */
const NEVER = new AbortController().signal;
/** What an option may leave to the program. */
const UNSET = {
  backend: undefined,
  kernelCache: undefined,
  timingCache: undefined,
  workspace: undefined,
};

/** Returns what runs a check. @throws {UserError} */
export function checkOptions(options: CheckOptions) {
  const { signal = NEVER, onEvent, ...rest } = checked(
    checkSchema,
    options,
    "check",
  );
  const given = { ...UNSET, ...rest };
  return {
    signal,
    onEvent,
    timeout: given.timeout,
    selecting: selectingOf(given),
    settings: settingsOf(given, { checkOnly: true }),
  };
}

/** Returns what runs a sweep. @throws {UserError} */
export function benchOptions(options: BenchOptions) {
  const { signal = NEVER, onEvent, runs, out, fresh, unfinished, ...rest } =
    checked(
      benchSchema,
      options,
      "bench",
    );
  const { devices } = rest;
  const nameOf = (option: string) => `\`${option}\``;
  demandShardFolder({ shard: rest.shard, out: options.out }, nameOf);
  demandPeersBackend(rest, nameOf);
  demandCold(options, nameOf);
  const device = typeof devices === "object" ? devices[0]! : rest.device;
  const given = { ...UNSET, ...rest, device };
  return {
    signal,
    onEvent,
    runs,
    out,
    fresh,
    unfinished,
    resume: false,
    timeout: given.timeout,
    selecting: selectingOf(given),
    settings: settingsOf(given),
  };
}

/**
 * Returns `options` with the defaults of `schema`.
 *
 * @throws {UserError} Where they are not of it, with the field that is wrong.
 */
export function checked<S extends GenericSchema>(
  schema: S,
  options: unknown,
  verb: "bench" | "check" | "diff" | "table",
): InferOutput<S> {
  const { output, issues } = safeParse(schema, options, { abortEarly: true });
  const isList = Array.isArray(options);
  if (issues === undefined && !isList) return output;
  const why = isList
    ? "it is a list: it must be an object"
    : formatIssue(issues![0]);
  throw new UserError(
    `Cannot ${verb}: ${why}; fix what ${verb}() is given`,
  );
}

/** Returns `given` with the values of axes as a selection has them. */
function selectingOf<
  T extends {
    readonly axes: Overrides;
    readonly where: Readonly<Record<string, readonly (string | number)[]>>;
  },
>({ axes, where, ...given }: T) {
  const texts = Object.entries(where).map(([name, list]) =>
    [name, list.map(String)] as const
  );
  return { ...given, overrides: axes, where: Object.fromEntries(texts) };
}

/** Makes what tells `onEvent` of each event. */
export function observerOf(
  onEvent: ((event: RunEvent) => void) | undefined,
  flat: (row: Row) => FlatRow,
): SweepObserver {
  const note = (text: string) => onEvent?.({ event: "note", text });
  return {
    note,
    row: (row) => onEvent?.({ event: "row", row: flat(row) }),
    progress(total) {
      return {
        update({ done, failed = 0, left }) {
          if (done === undefined) return;
          onEvent?.({
            event: "progress",
            done,
            total,
            failed,
            ...(left === undefined ? {} : { left }),
          });
        },
        print: note,
        // Its row says so.
        fail() {},
        [Symbol.dispose]() {},
      };
    },
  };
}
