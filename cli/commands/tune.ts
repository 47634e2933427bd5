/**
 * `mnkbench tune`: searches configs, and shows and changes what is remembered of them.
 *
 * @module
 */

import { merge, object } from "@optique/core/constructs";
import { multiple } from "@optique/core/modifiers";
import { argument } from "@optique/core/primitives";
import { UserError } from "../../bench/model/errors.ts";
import { define } from "../command.ts";
import {
  about,
  choiceFlags,
  kernelCache,
  maybe,
  runningFlags,
  targetFlags,
  timingCache,
  timingFlags,
  toggle,
  tuningFlags,
  type Words,
} from "../options/flags.ts";
import { name, parseSizes, path, reader } from "../options/readers.ts";

const remembered = () => import("./tune/remembered.ts");

const list = define({
  name: "tune list",
  brief: "List the cached configs.",
  examples: ["tune list", 'tune list --only "kernel=decompose-k m=16" --json'],
  codes: { 0: "the entries are printed" },
  flags: () =>
    object({
      only: maybe(
        "--only",
        name("WORDS", []),
        "List only entries that have all of these words.",
      ),
      json: toggle("--json", "Print the entries as lines of JSON."),
      ...files(),
    }),
  run: async (options) => (await remembered()).list(options),
});

const edit = define({
  name: "tune edit",
  brief: "Change the config of an entry.",
  examples: [
    'tune edit "1f00ba5e1f00ba5e:BM=16 SPLIT=64"',
    "tune edit 1f00ba5e1f00ba5e:BM=16 --timing-cache timings.json",
  ],
  codes: { 0: "the entry is changed" },
  flags: () =>
    object({
      entry: argument(
        name("ID:CONFIG", []),
        about("ID of the entry, as `tune list` prints it, and its new config."),
      ),
      ...files(),
    }),
  run: async (options) => (await remembered()).edit(options),
});

const forget = define({
  name: "tune forget",
  brief: "Remove entries, so that they are searched again.",
  examples: [
    'tune forget "kernel=decompose-k m=16"',
    "tune forget 1f00ba5e1f00ba5e",
  ],
  codes: { 0: "an entry was removed", 3: "no entry has these words" },
  flags: () =>
    object({
      words: argument(
        name("WORDS", []),
        about("Remove the entries that have all of these words, or this ID."),
      ),
      ...files(),
    }),
  run: async (options) => (await remembered()).forget(options),
});

const merging = define({
  name: "tune merge",
  brief:
    "Add the entries of other timing caches, and keep those that are there.",
  examples: [
    "tune merge ../other/timings.json",
    "tune merge a.json b.json --timing-cache all.json",
  ],
  codes: { 0: "the entries are added" },
  flags: () =>
    object({
      files: multiple(
        argument(path("FILE"), about("Timing caches.")),
        { min: 1 },
      ),
      ...files(),
    }),
  run: async (options) => (await remembered()).merge(options),
});

/** `mnkbench tune`. */
export const command = define({
  name: "tune",
  brief:
    "Search each kernel's best config and cache it; list and edit the cache.",
  examples: [
    "tune --suite matmul-bf16 --kernel decompose-k --level 5",
    "tune --suite matmul-bf16 --dispatch m=1,8,32,128 --header dispatch.h",
  ],
  codes: {
    0: "every case has a config or is unsupported",
    1: "a case failed, or the search was stopped",
    3: "no usable device, or no case with a choice of configs",
  },
  flags,
  run: async (options) => {
    const { dispatch, ...rest } = options;
    if (dispatch) {
      const run = (await import("./tune/dispatch.ts")).dispatch;
      return await run(rest, dispatch);
    }
    for (const name of ["out", "header"] as const) {
      if (options[name] === undefined) continue;
      throw new UserError(
        `Cannot write a dispatch table without its ranges: give --dispatch, as in --dispatch m=1,8,32, or leave out --${name}`,
      );
    }
    return await (await import("./tune/search.ts")).search(options);
  },
  parts: [list, edit, forget, merging],
});

/** The options for the file of the timing cache. */
function files() {
  return { timingCache: timingCache(), kernelCache: kernelCache() };
}

function flags(words: Words) {
  return merge(
    choiceFlags(words),
    targetFlags(words),
    timingFlags(),
    tuningFlags(),
    runningFlags(),
    object("Results", {
      dispatch: maybe(
        "--dispatch",
        ranges(),
        "Make a dispatch table of ranges, such as m=1,8,32,128.",
      ),
      out: maybe(
        "--out",
        path("FILE"),
        "With --dispatch: write the table as JSON.",
      ),
      header: maybe(
        "--header",
        path("FILE"),
        "With --dispatch: write the table as a C header.",
      ),
      skips: toggle("--skips", "List each skipped config and why."),
      json: toggle("--json", "Print lines of JSON."),
    }),
  );
}

/** An axis and the bounds of its ranges, as in `m=1,8,32`. */
function ranges() {
  return reader({
    metavar: "AXIS=SIZES",
    placeholder: { axis: "m", bounds: [1] as readonly number[] },
    read(input) {
      const [, axis, sizes] = /^(\w+)=(.+)$/.exec(input) ?? [];
      if (axis === undefined) {
        throw new UserError(
          `${input} names no ranges: give an axis and their upper ends, as in m=1,8,32,128`,
        );
      }
      const bounds = parseSizes(sizes!).toSorted((a, b) => a - b);
      return { axis, bounds };
    },
  });
}
