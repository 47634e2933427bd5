/**
 * `mnkbench build`: compiles kernels for architectures that need not be present, and packs
 * them with the program.
 *
 * @module
 */

import { merge, object } from "@optique/core/constructs";
import type { InferValue } from "@optique/core/parser";
import { EXIT, UserError } from "../../bench/model/errors.ts";

import { BRIEFS, define } from "../command.ts";
import {
  choiceFlags,
  kernelCache,
  lists,
  maybe,
  toggle,
  type Words,
} from "../options/flags.ts";
import { path } from "../options/readers.ts";
import { sourceFlags, withFile } from "../options/source.ts";
import { logLine } from "../terminal/output.ts";

type BuildOptions = InferValue<ReturnType<typeof flags>>;

/** `mnkbench build`. */
export const command = define({
  name: "build",
  brief: BRIEFS.build,
  examples: [
    "build --arch sm_90a --suite matmul-bf16",
    "build --pack --arch sm_90a --suite epilogue-bf16 --kernel decompose-k",
  ],
  codes: {
    0: "all is built; with --pack: the archive is made",
    1: "a kernel cannot be compiled; with --pack: the archive is too large; stopped by Ctrl-C it is 130",
    3: "no kernel is selected",
  },
  flags,
  run: build,
});

function flags(words: Words) {
  return merge(
    sourceFlags(
      "A .c, .cu, .hip or .metal file, of which its kernel alone is built; or a suite file.",
    ),
    choiceFlags(words, "all"),
    object("Building", {
      arch: lists("--arch", {
        metavar: "ARCH",
        words: ["sm_90a"],
        what: "Architectures to build for, such as sm_90a.",
      }),
      kernelCache: kernelCache(),
    }),
    object("Packing", {
      pack: toggle(
        "--pack",
        "Make an archive of Deno, packages, sources, a launcher and the selected kernels built for --arch (default: those of suites with recorded rows).",
      ),
      out: maybe(
        "--out",
        path("FILE"),
        "With --pack: the archive (default: mnkbench.tar.xz).",
      ),
    }),
  );
}

async function build(given: BuildOptions): Promise<number> {
  const { buildFor, demandBuildable, SOME_ARCHS } = await import(
    "./build/kernels.ts"
  );
  const options = await withFile(given, { alone: true, isRun: false });
  const { file = options.suites.join(), backend } = options;
  if (backend !== undefined) {
    for (const arch of options.arch) demandBuildable(file, { backend, arch });
  }
  if (options.pack) return await pack(options);
  if (options.out !== undefined) {
    throw new UserError("--out is for --pack: add it, or leave out --out");
  }
  if (options.arch.length === 0) {
    throw new UserError(
      `Nothing to build for: give --arch, as in --arch ${
        SOME_ARCHS[backend ?? "cuda"] ?? SOME_ARCHS.cuda
      }`,
    );
  }
  let failed = 0;
  for (const arch of options.arch) {
    failed += (await buildFor(arch, options)).failed;
  }
  return failed > 0 ? EXIT.failed : EXIT.ok;
}

async function pack(options: BuildOptions): Promise<number> {
  const { arch, kernelCache, out = "mnkbench.tar.xz" } = options;
  const isNamed = namesSome(options);
  if (isNamed && arch.length === 0) {
    throw new UserError(
      "--suite, --kernel and sizes select kernels to pack, which are built for --arch: give it, as in --arch sm_90a",
    );
  }
  const archive = await import("./build/archive.ts");
  await archive.checkTarget(out);
  const { buildFor, recordedSuites } = await import("./build/kernels.ts");
  const entries: string[] = [];
  for (const one of arch) {
    // What cannot be built is said, and not missed unless it is run.
    const own = isNamed ? {} : { suites: recordedSuites(one, logLine) };
    entries.push(...(await buildFor(one, { ...options, ...own })).entries);
  }
  const contents = { arch, kernelCache, ...(arch.length > 0 && { entries }) };
  await archive.pack(out, contents);
  return EXIT.ok;
}

/** Returns whether the options select some of all kernels. */
function namesSome(
  { suites, kernels, overrides, where, quick }: BuildOptions,
): boolean {
  return [suites, kernels, Object.keys({ ...overrides, ...where })].some((
    { length },
  ) => length > 0) ||
    quick;
}
