/**
 * `mnkbench compare`: measures two kernels, or two builds of recorded rows, in turns.
 *
 * @module
 */

import { merge, object } from "@optique/core/constructs";
import { multiple } from "@optique/core/modifiers";
import type { InferValue } from "@optique/core/parser";
import { argument } from "@optique/core/primitives";
import { string } from "@optique/core/valueparser";
import { counted } from "../../bench/files/terminal_text.ts";
import { UserError } from "../../bench/model/errors.ts";
import { LATEST, RESULTS } from "../../session/home.ts";
import { BRIEFS, define } from "../command.ts";
import {
  about,
  choiceFlags,
  maybe,
  peers,
  preset,
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
    "compare results/nvidia-h200 new/nvidia-h200",
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
            `A and B: kernels of a suite, .c, .cu, .hip or .metal files; or rows before and after, each a CSV, folder or glob (default: ${RESULTS} and ${LATEST}, only the cases of the latter). With --calibrate: a path for each run.`,
          ),
        ),
      ),
      calibrate: toggle(
        "--calibrate",
        "Compare runs of one build, and record each row's minimal detectable effect.",
      ),
      times: maybe(
        "--times",
        count,
        "With --calibrate: number of runs to measure (default: 5).",
      ),
      runs: maybe(
        "--runs",
        count,
        "Repeats of each side (default: 5; with --calibrate: 1).",
      ),
      out: preset(
        "--out",
        path("DIR"),
        "With --calibrate: folder of the results.",
        RESULTS,
      ),
    }),
    judgingFlags("3; of two kernels 1", "0.2; of two kernels 0.05"),
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
  if (options.calibrate) {
    const { calibrate } = await import("./compare/calibrate.ts");
    return await calibrate({ ...options, paths: sides });
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
  }
  const { kernels, overrides, where, quick } = options;
  if (
    quick || kernels.length + Object.keys({ ...overrides, ...where }).length
  ) {
    throw new UserError(
      "--kernel, --quick and sizes choose what two kernels are measured at: of rows all slower and unclear ones are measured again; leave them out",
    );
  }
  const { confirm } = await import("./compare/recorded.ts");
  return await confirm({ ...options, ...sidesOf("compare", sides) });
}
