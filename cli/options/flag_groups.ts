/**
 * Options that several commands have: what they are called, read to and explained as.
 *
 * @module
 */

import type { Parser } from "@optique/core/parser";
import { object } from "@optique/core/constructs";
import { type Message, text } from "@optique/core/message";
import { ensureNonEmptyString } from "@optique/core/nonempty";
import { map, multiple, optional, withDefault } from "@optique/core/modifiers";
import { option } from "@optique/core/primitives";
import { choice } from "@optique/core/valueparser";
import { EMULATED } from "../../backends/emulator/archs.ts";
import { DEFAULTS } from "../../bench/model/settings.ts";
import { FILLS } from "../../bench/model/inputs.ts";
import { PEER_SETS } from "../../peers/torch.ts";
import type { Words } from "../../session/options.ts";
import { PYTHON_VARIABLE } from "../../peers/peer_cases.ts";
import {
  device,
  name,
  names,
  number,
  path,
  program,
  sizes,
  timer,
} from "./readers.ts";

/** What an option is for. */
export const about = (what: string): { description: Message } => ({
  description: [text(what)],
});

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

/** Which device API. */
export const backend = (words: Words) =>
  optional(
    option(
      "--backend",
      name("NAME", words.backends),
      about(`The device API, one of ${words.backends.join(", ")}.`),
    ),
  );

/** Where compiled kernels are. */
export const kernelCache = () =>
  optional(
    option(
      "--kernel-cache",
      path("DIR"),
      about("Folder of compiled kernels, the program's own by default."),
    ),
  );

/** One of `words`, which help shows. */
export const shown = <const T extends string>(words: readonly T[]) => {
  const metavar = words.join("|");
  ensureNonEmptyString(metavar);
  return choice(words, { metavar });
};

const axis = (name: "--m" | "--n" | "--k", what: string) =>
  optional(option(name, sizes(), about(what)));

/** Which cases. @param unnamed The suites where none is named. */
export function choiceFlags(words: Words, unnamed = "those of decompose-k") {
  return object("Cases", {
    suites: lists("--suite", {
      metavar: "NAME",
      words: words.suites,
      what:
        `Suites, files of your own such as ./my_suite.ts, or all; ${unnamed} by default.`,
    }),
    kernels: lists("--kernel", {
      metavar: "NAME",
      words: words.kernels,
      what: "Kernels; all of the suites by default.",
    }),
    m: axis("--m", "Sizes instead of the suite's, such as 16,32 or 16:64:16."),
    n: axis("--n", "The same for N, which follows M where the suite says so."),
    k: axis("--k", "The same for K, such as 1024:32768:*2."),
    layout: lists("--layout", {
      metavar: "NAME",
      words: ["nn", "nt"],
      what: "How B is stored instead, nn for [K, N], nt for [N, K].",
    }),
    quick: toggle("--quick", "A few points of each suite."),
  });
}

/** Which device. @param emulated Whether it may be an emulated one. */
export function targetFlags(words: Words, emulated = false) {
  const more = emulated ? `; or ${EMULATED.join(", ")}` : "";
  return object("Device", {
    backend: backend(words),
    device: withDefault(
      option(
        "--device",
        device(emulated),
        about(`Which of its devices${more}.`),
      ),
      0,
    ),
  });
}

/** Which peers. @param verb What is done with them. */
export const peers = (verb = "Measure") =>
  optional(
    option(
      "--peers",
      shown(PEER_SETS),
      about(`${verb} PyTorch and Triton beside our kernels.`),
    ),
  );

/** The Python of peers. */
export const python = () =>
  optional(
    option(
      "--python",
      program("PATH"),
      about(`The Python that has torch, or ${PYTHON_VARIABLE}, or python3.`),
    ),
  );

/** How cases are run. */
export function runningFlags() {
  return object("Running", {
    seed: withDefault(
      option("--seed", number("INTEGER"), about("Seed of the inputs.")),
      DEFAULTS.seed,
    ),
    fill: withDefault(
      option("--fill", shown(FILLS), about("Distribution of the inputs.")),
      DEFAULTS.fill,
    ),
    timeout: withDefault(
      option(
        "--timeout",
        number("SECONDS", { least: 0.1, whole: false }),
        about(
          "Silence after which a case is given up: one call. Compilers have 120 s.",
        ),
      ),
      60,
    ),
    prebuilt: toggle("--prebuilt", "Compile nothing, use built kernels only."),
    kernelCache: kernelCache(),
  });
}

/** How cases are timed. */
export function timingFlags() {
  const milliseconds = number("MS", { whole: false });
  return object("Timing", {
    warmup: withDefault(
      option("--warmup", milliseconds, about("Warm-up of a case.")),
      DEFAULTS.warmup,
    ),
    rep: withDefault(
      option("--rep", milliseconds, about("Sampling of a case.")),
      DEFAULTS.rep,
    ),
    search: withDefault(
      option("--search", milliseconds, about("Search for each config.")),
      DEFAULTS.search,
    ),
    timer: withDefault(
      option(
        "--timer",
        timer(),
        about("How durations are taken: do_bench, graph or batch:N."),
      ),
      DEFAULTS.timer,
    ),
    cache: withDefault(
      option(
        "--cache",
        shown(["cold", "warm"]),
        about("Whether the last-level cache is flushed before each call."),
      ),
      DEFAULTS.cache,
    ),
    flush: withDefault(
      option(
        "--flush",
        shown(["zero", "read"]),
        about("Whether the flush writes zeros or only reads."),
      ),
      DEFAULTS.flush,
    ),
  });
}

/** A parser of options of type `T`. */
export type Flags<T> = Parser<"sync", T, unknown>;
