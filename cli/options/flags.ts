/**
 * Options that several commands have: what they are called, read to and explained as.
 *
 * @module
 */

import { object } from "@optique/core/constructs";
import { type Message, text } from "@optique/core/message";
import { map, multiple, optional, withDefault } from "@optique/core/modifiers";
import { ensureNonEmptyString } from "@optique/core/nonempty";
import type { Parser } from "@optique/core/parser";
import { argument, option } from "@optique/core/primitives";
import { choice, string, type ValueParser } from "@optique/core/valueparser";
import type { Overrides } from "../../bench/model/axes.ts";
import { UserError } from "../../bench/model/errors.ts";
import { FILLS } from "../../bench/model/inputs.ts";
import {
  PEER_SETS,
  type PeerSet,
  PYTHON_VARIABLE,
} from "../../bench/model/peer.ts";
import { DEFAULTS, MOST_MS, PRECISE_REP } from "../../bench/model/settings.ts";
import { MOST_LEVEL } from "../../bench/tune/levels.ts";
import {
  type AxisValues,
  axisValues,
  device,
  devices,
  name,
  names,
  number,
  path,
  program,
  reader,
  shard as shardValue,
  sizes,
  timer,
} from "./readers.ts";
import { demandCold } from "../../session/options.ts";
import { EMULATED } from "../../backends/emulator/names.ts";

/** Names that shell completion offers. */
export interface Words {
  readonly suites: readonly string[];
  readonly kernels: readonly string[];
  readonly backends: readonly string[];
}

/** Describes an option. */
export const about = (what: string): { description: Message } => ({
  description: [text(what)],
});

/** An option that may be left out. */
export const maybe = <T>(
  name: `--${string}`,
  value: ValueParser<"sync", T>,
  what: string,
) => optional(option(name, value, about(what)));

/** An option with a default. */
export const preset = <T>(
  name: `--${string}`,
  value: ValueParser<"sync", T>,
  what: string,
  initial: NoInfer<T>,
) => withDefault(option(name, value, about(what)), initial);

/** An option without a value. */
export const toggle = (name: `--${string}`, what: string) =>
  option(name, about(what));

function distinct(lists: readonly (readonly string[])[]): readonly string[] {
  return [...new Set(lists.flat())];
}

/** Names, in any number of lists. */
export const lists = (
  name: `--${string}`,
  { metavar, words, what }: {
    metavar: "NAME" | "ARCH";
    words: readonly string[];
    what: string;
  },
) => map(multiple(option(name, names(metavar, words), about(what))), distinct);

/** Files, folders and globs. */
export const paths = (metavar: "FILE" | "PATH", what: string) =>
  multiple(argument(string({ metavar }), about(what)));

/** The option for a device API. */
const backend = (words: Words) =>
  maybe(
    "--backend",
    name("NAME", words.backends),
    `Device API: one of ${words.backends.join(", ")}.`,
  );

/** The option for the folder of compiled kernels. */
export const kernelCache = () =>
  maybe(
    "--kernel-cache",
    path("DIR"),
    "Folder of compiled kernels (default: the program's .cache).",
  );

/** One of `words`, which help shows. */
export const shown = <const T extends string>(words: readonly T[]) => {
  const metavar = words.join("|");
  ensureNonEmptyString(metavar);
  return choice(words, { metavar });
};

/** A parser of options of type `T`. */
export type Flags<T> = Parser<"sync", T, unknown>;

/**
 * Options that select cases.
 *
 * @param unnamed The suites where none is named, for the help.
 * @param kernels The kernels where none is named.
 */
export function choiceFlags(
  words: Words,
  unnamed = "epilogue-bf16, matmul-bf16, matmul-fp16, matmul-fp32",
  kernels = "all of the suites",
) {
  const flags = object("Cases", {
    suites: lists("--suite", {
      metavar: "NAME",
      words: words.suites,
      what:
        `Suites, files of your own such as ./my_suite.ts, or all (default: ${unnamed}).`,
    }),
    kernels: lists("--kernel", {
      metavar: "NAME",
      words: words.kernels,
      what:
        `Kernels (default: ${kernels}); auto and auto-library choose one without measuring.`,
    }),
    ...axisFlags(
      "Values of an axis instead of the suite's: bits=3,4,8 or m=16:64:16 or layout=nn.",
    ),
    quick: toggle("--quick", "Run a few shapes of each suite."),
  });
  return map(flags, ({ m, n, k, axis, where, ...rest }) => ({
    ...rest,
    overrides: byName([...axis, ...m, ...n, ...k]),
    where: textByName(where),
  }));
}

/** Options that name values of axes. @param what The meaning of `--axis`. */
export function axisFlags(what: string) {
  return {
    axis: multiple(option("--axis", axisValues(), about(what))),
    where: multiple(
      option(
        "--where",
        axisValues(),
        about("Only cases with these values of an axis, such as mode=affine."),
      ),
    ),
    ...short,
  };
}

/** Options that choose rows. @param where What has the rows, for the help. */
export function rowFlags(words: Words, where: string) {
  const flags = object("Rows", {
    suites: lists("--suite", {
      metavar: "NAME",
      words: words.suites,
      what: `Suites (default: all in the ${where}).`,
    }),
    kernels: lists("--kernel", {
      metavar: "NAME",
      words: words.kernels,
      what: "Kernels (default: all).",
    }),
    ...axisFlags("Only cases with these values of an axis, as --where."),
  });
  return map(flags, ({ axis, where, m, n, k, ...names }) => ({
    ...names,
    point: textByName([...axis, ...where, ...m, ...n, ...k]),
  }));
}

/** Returns all values of each axis as text, as rows have them. */
export function textByName(
  lists: readonly AxisValues[],
): Readonly<Record<string, readonly string[]>> {
  return textOf(byName(lists));
}

/** Returns values of axes as text, as rows have them. */
export function textOf(
  values: Overrides,
): Readonly<Record<string, readonly string[]>> {
  const texts = Object.entries(values).map(([name, list]) =>
    [name, list.map(String)] as const
  );
  return Object.fromEntries(texts);
}

/** All values of each name, each once. */
function byName(lists: readonly AxisValues[]): Overrides {
  const groups = Map.groupBy(lists, ({ name }) => name);
  return Object.fromEntries(
    [...groups].map(([name, own]) => [
      name,
      [...new Set(own.flatMap(({ values }) => values))],
    ]),
  );
}

/** `--m`, `--n` and `--k`, each short for an `--axis`. */
const short = {
  m: sized("m", "Short for --axis m=..., such as --m 16,32 or --m 16:64:16."),
  n: sized("n", "Short for --axis n=...; N follows M where the suite says so."),
  k: sized("k", "Short for --axis k=..., such as --k 1024:32768:*2."),
};

function sized(name: "m" | "n" | "k", what: string) {
  return multiple(
    map(
      option(`--${name}`, sizes(), about(what)),
      (values): AxisValues => ({ name, values }),
    ),
  );
}

/** Options that select a device. @param emulated Whether it may be an emulated one. */
export function targetFlags(words: Words, emulated = false) {
  const more = emulated ? `, or ${EMULATED.join(", ")}` : "";
  return object("Device", {
    backend: backend(words),
    device: preset(
      "--device",
      device(emulated),
      `Index of the device${more}.`,
      0,
    ),
  });
}

/** Options that select a device, or several that share the cases. */
export function devicesFlags(words: Words) {
  const flags = object("Device", {
    backend: backend(words),
    chosen: preset(
      "--device",
      devices(),
      `Index of the device; 0,2-3 or all share the cases; or ${
        EMULATED.join(", ")
      }.`,
      0,
    ),
  });
  return map(flags, ({ backend, chosen }) => ({
    backend,
    ...(typeof chosen === "object"
      ? chosen
      : { device: chosen, devices: undefined }),
  }));
}

/** The option for one part of the cases. */
export const shard = () =>
  maybe(
    "--shard",
    shardValue(),
    "Run one of N parts of about the same cost, which are the same on every host. All kernels of a shape are in one.",
  );

/** Options of every command that runs cases. */
export function runningFlags() {
  return object("Running", {
    seed: preset(
      "--seed",
      number("INTEGER"),
      "Seed of the inputs.",
      DEFAULTS.seed,
    ),
    fill: preset(
      "--fill",
      shown(FILLS),
      "Distribution of the inputs.",
      DEFAULTS.fill,
    ),
    timeout: preset(
      "--timeout",
      number("SECONDS", { least: 0.1, whole: false }),
      "Kill a case after this many seconds without progress. Compilers have 120 s.",
      60,
    ),
    prebuilt: toggle(
      "--prebuilt",
      "Use kernels that are built already, and compile none.",
    ),
    kernelCache: kernelCache(),
  });
}

/** Options of the timer. */
export function timingFlags() {
  const milliseconds = number("MS", { most: MOST_MS, whole: false });
  const flags = object("Timing", {
    warmup: preset(
      "--warmup",
      milliseconds,
      "Warm-up time of a case.",
      DEFAULTS.warmup,
    ),
    rep: maybe(
      "--rep",
      milliseconds,
      `Sampling time of a case (default: ${DEFAULTS.rep}; ${PRECISE_REP} with --precision).`,
    ),
    precision: maybe(
      "--precision",
      number("PERCENT", { least: 0.01, most: 100, whole: false }),
      "Sample until the 95 % interval of the median is within so many per cent, for --rep at most.",
    ),
    search: preset(
      "--search",
      milliseconds,
      "Time to measure each config in a search.",
      DEFAULTS.search,
    ),
    timer: preset(
      "--timer",
      timer(),
      "Timing method: lone calls, a graph of one, or N calls together.",
      DEFAULTS.timer,
    ),
    cache: preset(
      "--cache",
      shown(["cold", "warm"]),
      "Whether the last-level cache is flushed before each call.",
      DEFAULTS.cache,
    ),
    flush: maybe(
      "--flush",
      shown(["zero", "read"]),
      `Whether the flush writes zeros or only reads (default: ${DEFAULTS.flush}).`,
    ),
  });
  return map(flags, (options) => {
    demandCold(options, (name) => `--${name}`);
    return { ...options, flush: options.flush ?? DEFAULTS.flush };
  });
}

/** The option that chooses one timer of recorded rows. */
export const shownTimer = () =>
  maybe(
    "--timer",
    timer(),
    "Rows of this timer (default: of each suite, the one with the most rows).",
  );

/** The option that chooses the cache of recorded rows. */
export const shownCache = () =>
  maybe(
    "--cache",
    shown(["cold", "warm"]),
    "Rows with this cache (default: the one with the most rows).",
  );

/** The option for the timing cache. */
export const timingCache = () =>
  maybe(
    "--timing-cache",
    path("FILE"),
    "File of cached configs (default: timings.json in the kernel cache).",
  );

/** Options of the choice of configs. */
export function tuningFlags() {
  return object("Tuning", {
    level: preset(
      "--level",
      level(),
      "Search effort: 0 takes the first legal config, 5 times all.",
      DEFAULTS.level,
    ),
    timingCache: timingCache(),
    noTimingCache: toggle("--no-timing-cache", "Ignore cached configs."),
    errorOnCacheMiss: toggle(
      "--error-on-cache-miss",
      "Fail a case whose config is not in the timing cache.",
    ),
    workspace: maybe(
      "--workspace",
      number("MIB"),
      "Most workspace a config may take (default: all device memory).",
    ),
  });
}

/** A level, as `--level` takes it. */
function level() {
  return reader({
    metavar: "0-5",
    placeholder: DEFAULTS.level,
    words: Array.from({ length: MOST_LEVEL + 1 }, (_, i) => `${i}`),
    read(input) {
      const value = /^\d$/.test(input) ? Number(input) : NaN;
      if (value <= MOST_LEVEL) return value;
      throw new UserError(
        `${input || "nothing"} is no level: give 0 to ${MOST_LEVEL}`,
      );
    },
  });
}

/** The option for peers. @param verb The command's action on them. */
export const peers = (verb = "Measure") =>
  maybe(
    "--peers",
    reader({
      metavar: "torch,FILE.py:NAME",
      placeholder: PEER_SETS[0],
      words: PEER_SETS,
      read(input): PeerSet {
        for (const name of input.split(",")) {
          if (!/\.py(?::\w+)?$/.test(name) && name !== PEER_SETS[0]) {
            throw new UserError(
              `${
                name || "nothing"
              } is no set of peers: give torch, or a Python file and its function, such as ./mine.py:fn`,
            );
          }
        }
        return input;
      },
    }),
    `${verb} PyTorch and Triton, or functions of Python files, beside our kernels.`,
  );

/** The option for the Python of peers. */
export const python = () =>
  maybe(
    "--python",
    program("PATH"),
    `Python with torch and triton (default: ${PYTHON_VARIABLE}, else python3).`,
  );
