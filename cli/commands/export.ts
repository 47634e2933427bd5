/**
 * `mnkbench export`: writes kernels as binaries with a C header and a PyTorch operator that launch
 * them.
 *
 * @module
 */

import { merge, object } from "@optique/core/constructs";
import { option } from "@optique/core/primitives";
import { UserError } from "../../bench/model/errors.ts";
import { BRIEFS, define } from "../command.ts";
import {
  about,
  choiceFlags,
  kernelCache,
  maybe,
  toggle,
  type Words,
} from "../options/flags.ts";
import { name, path } from "../options/readers.ts";
import { sourceFlags, withFile } from "../options/source.ts";

/** `mnkbench export`. */
export const command = define({
  name: "export",
  brief: BRIEFS.export,
  examples: [
    "export --op matmul --arch sm_90a --out mine --m 1..512 --n 4096 --k 4096",
    "export --suite decode-llama --kernel wgmma-k,cluster-k --arch sm_90a --out mine",
  ],
  codes: {
    0: "the files are written",
    1: "a kernel cannot be compiled; nothing is written",
    3: "no kernel or shape is selected",
  },
  flags,
  run: async (given) => {
    const { exportKernels } = await import("./export/files.ts");
    const options = await withFile(given, { alone: true, isRun: false });
    const { file = options.suites.join(), backend } = options;
    if (backend !== undefined && backend !== "cuda") {
      throw new UserError(
        `Cannot export ${file}: the kernel is for ${backend}, and only CUDA kernels are exported; name a .cu file`,
      );
    }
    return await exportKernels(options);
  },
});

function flags(words: Words) {
  return merge(
    sourceFlags(
      "A .cu file, of which its kernel is exported; or a suite file.",
    ),
    choiceFlags(
      words,
      "the shapes of --op at --m, --n and --k",
      "auto; of several, the first that runs a shape",
    ),
    object("Exporting", {
      op: maybe(
        "--op",
        name("NAME", []),
        "Operation, such as matmul (default: that of --suite).",
      ),
      arch: option(
        "--arch",
        name("ARCH", ["sm_90a"]),
        about("Architecture to export for, such as sm_90a."),
      ),
      out: option(
        "--out",
        path("DIR"),
        about("Folder to write, which is new or empty."),
      ),
      pdl: toggle(
        "--pdl",
        "Launch kernels so that a call may start while the launches before it in the stream still run (programmatic dependent launch). It reads weights, their scales and biases at once, and everything else after those launches have ended. Weights, their scales and biases must not be written by a launch that may still be running: after writing them, synchronize, or launch any kernel without PDL before the call.",
      ),
      kernelCache: kernelCache(),
    }),
  );
}
