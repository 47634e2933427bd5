/**
 * `mnkbench compare`: measures two kernels, commits, or builds of recorded rows, in turns.
 *
 * @module
 */

import { merge, object } from "@optique/core/constructs";
import { multiple } from "@optique/core/modifiers";
import type { InferValue } from "@optique/core/parser";
import { argument } from "@optique/core/primitives";
import { string } from "@optique/core/valueparser";
import { unlessMissing } from "../../bench/files/disk.ts";
import { counted } from "../../bench/files/terminal_text.ts";
import { UserError } from "../../bench/model/errors.ts";
import { LATEST, RESULTS } from "../../session/home.ts";
import { BRIEFS, define } from "../command.ts";
import {
  about,
  choiceFlags,
  maybe,
  peers,
  python,
  runningFlags,
  targetFlags,
  timingFlags,
  toggle,
  tuningFlags,
  type Words,
} from "../options/flags.ts";
import { number, path } from "../options/readers.ts";
import { sidesOf } from "../options/usual_paths.ts";
import { judgingFlags } from "./diff/compare.ts";

/** `mnkbench compare`. */
export const command = define({
  name: "compare",
  brief: BRIEFS.compare,
  examples: [
    "compare old.cu new.cu --m 16,32 --k 8192",
    "compare main..HEAD --suite matmul-bf16 --quick",
  ],
  codes: {
    0: "nothing to fail on, or the calibration is written",
    1: "B, or a row measured again, is slower; stopped by Ctrl-C it is 130",
    3: "nothing can be compared, or a row is missing or cannot be measured",
    4: "B fails where A does not, or a row is broken or less accurate",
  },
  flags,
  run: compare,
});

function flags(words: Words) {
  const count = number("COUNT", { least: 1 });
  return merge(
    object("Comparing", {
      sides: multiple(
        argument(
          string({ metavar: "SIDE" }),
          about(
            `A and B: kernels of a suite, .c, .cu, .hip or .metal files; commits, as BASE..HEAD, or two checkouts of mnkbench; or rows before and after, each a CSV, folder or glob (default: ${RESULTS} and ${LATEST}, only the cases of the latter). With --calibrate: a path for each run.`,
          ),
        ),
      ),
      calibrate: toggle(
        "--calibrate",
        "Compare runs of one build, and record each row's minimal detectable effect.",
      ),
      bisect: toggle(
        "--bisect",
        "Of commits: exit with 0 (not slower), 1 (slower, less accurate, broken) or 125 (not known), for git bisect run.",
      ),
      times: maybe(
        "--times",
        count,
        "With --calibrate: number of runs to measure (default: 5).",
      ),
      runs: maybe(
        "--runs",
        count,
        "Repeats of each side (default: 5; of commits 3 to 12, until all is clear; with --calibrate: 1).",
      ),
      budget: maybe(
        "--budget",
        number("SECONDS", { least: 0.1, whole: false }),
        "Of commits: start no round after this, but for the first three.",
      ),
      out: maybe(
        "--out",
        path("DIR"),
        `With --calibrate: folder of the results (default: ${RESULTS}).`,
      ),
    }),
    judgingFlags("3; in turns 1", "0.2; in turns 0.05"),
    choiceFlags(
      words,
      "of two kernels the first that has both, with --calibrate those of bench, else those of the rows",
    ),
    targetFlags(words),
    timingFlags(),
    tuningFlags(),
    runningFlags(),
    object("Peers", { peers: peers(), python: python() }),
  );
}

async function compare(
  options: InferValue<ReturnType<typeof flags>>,
): Promise<number> {
  const { sides } = options;
  if (options.calibrate && !options.bisect) {
    if (options.times !== undefined && sides.length > 0) {
      throw new UserError(
        "--times is for runs that are measured now: leave it out, or name no path",
      );
    }
    const { calibrate } = await import("./compare/calibrate.ts");
    const { out = RESULTS } = options;
    return await calibrate({ ...options, paths: sides, out });
  }
  for (const name of ["times", "out"] as const) {
    if (options[name] === undefined) continue;
    throw new UserError(
      `--${name} is for runs of one build: add --calibrate, or leave out --${name}`,
    );
  }
  const checkouts = await checkoutsOf(sides, options);
  if (checkouts !== undefined) {
    const { benchArgs } = await import("./compare/bench_args.ts");
    const { compareCheckouts } = await import("./compare/commits.ts");
    const args = benchArgs(Deno.args.slice(1), checkouts.sides);
    return await compareCheckouts(checkouts.make, args, options);
  }
  if (options.bisect || options.budget !== undefined) {
    throw new UserError(
      `${
        options.bisect ? "--bisect" : "--budget"
      } is for two commits: give BASE..HEAD, or leave it out`,
    );
  }
  if (sides.length > 2) {
    throw new UserError(
      `Cannot compare ${
        counted(sides.length, "path")
      }: give the rows before and after, compare BASE NEW, or runs of one build with --calibrate`,
    );
  }
  const [base, next] = sides;
  if (base !== undefined && next !== undefined) {
    const { areKernels } = await import("./compare/sides.ts");
    if (await areKernels([base, next], options)) {
      const { compareKernels } = await import("./compare/kernels.ts");
      return await compareKernels([base, next], options);
    }
  } else if (base !== undefined) {
    const { isSource } = await import("../../session/cases.ts");
    if (isSource(base)) {
      throw new UserError(
        `A second kernel is missing: give two, as in compare ${base} new.c`,
      );
    }
  }
  if (options.quick) {
    throw new UserError(
      "--quick is for kernels and commits: choose rows by --suite, --kernel and --where",
    );
  }
  if (options.peers !== undefined) {
    throw new UserError(
      "--peers is for kernels, commits and --calibrate: rows of peers are not measured again, so leave it out",
    );
  }
  const { confirm } = await import("./compare/recorded.ts");
  return await confirm({ ...options, ...sidesOf("compare", sides) });
}

/** Returns which of `sides` are commits or checkouts, and how they are made ready. */
async function checkoutsOf(
  sides: readonly string[],
  options: Pick<InferValue<ReturnType<typeof flags>>, "kernelCache">,
) {
  const [first, second] = sides;
  if (first === undefined) return undefined;
  const { checkOut, checkoutsIn, isCheckout, rangeOf } = await import(
    "./compare/checkouts.ts"
  );
  const range = rangeOf(first);
  // A folder may have any name.
  if (
    range !== undefined &&
    unlessMissing(() => Deno.lstatSync(first)) === undefined
  ) {
    return { sides: [first], make: () => checkOut(range, options) };
  }
  if (second === undefined || ![first, second].every(isCheckout)) {
    return undefined;
  }
  return {
    sides: [first, second],
    make: () => Promise.resolve(checkoutsIn(first, second)),
  };
}
