/**
 * Builds the library that records the GEMMs of a program, and sets the variables that load it.
 *
 * @module
 */

import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { onDisk, removeIfThere } from "../../../bench/files/disk.ts";
import { hashOf } from "../../../bench/files/hash.ts";
import { privateFolder } from "../../../bench/files/private_folder.ts";
import { CaseError, UserError } from "../../../bench/model/errors.ts";
import { runCompiler } from "../../shared/compiler.ts";
import { find, inCuda, thisHost } from "../../shared/find_library.ts";

const FOLDER = dirname(fileURLToPath(import.meta.url));
const SOURCES = [
  "blas.c",
  "calls.c",
  "cupti.c",
  "driver.c",
  "events.c",
  "lookup.c",
  "names.c",
  "nvtx.c",
  "table.c",
  "window.c",
] as const;
const OPTIONS = [
  ...["-std=gnu11", "-O2", "-shared", "-fPIC", "-fvisibility=hidden"],
  ...["-Wall", "-Wextra"],
];
const LIBRARIES = ["-ldl", "-lpthread"];

/** The folder of the module that Python programs load. */
const PYTHON = join(FOLDER, "python");

const CUPTI = inCuda(
  ["libcupti.so.13", "libcupti.so.12", "libcupti.so"],
  ["nvidia/cu13/lib", "nvidia/cuda_cupti/lib"],
  ["extras/CUPTI/lib64", "lib64", "targets/*/lib"],
);

/**
 * Builds the recorder in `cache`, unless it is there.
 *
 * @param compilers C compilers to try, in order.
 * @returns Its path.
 * @throws {UserError} Without a C compiler, and where the loader cannot name the path.
 */
export async function buildRecorder(
  cache: string,
  compilers: readonly string[] = ["cc", "gcc", "clang"],
): Promise<string> {
  const paths = ["recorder.h", ...SOURCES].map((name) => join(FOLDER, name));
  const texts = paths.map((path) => Deno.readTextFileSync(path));
  onDisk(cache, () => privateFolder(cache));
  const library = join(cache, `capture-${hashOf(...OPTIONS, ...texts)}.so`);
  // The loader separates the names of LD_PRELOAD by both.
  if (/[\s:]/.test(library)) {
    throw new UserError(
      `Cannot load ${library} into a program: its path has a blank or a colon; name another folder with --kernel-cache DIR`,
    );
  }
  try {
    Deno.statSync(library);
    return library;
  } catch (error) {
    if (!(error instanceof Deno.errors.NotFound)) throw error;
  }
  const draft = `${library}.${Deno.pid}`;
  const args = [...OPTIONS, "-o", draft, ...paths.slice(1), ...LIBRARIES];
  try {
    await compile(compilers, { args, binary: draft, folder: `${FOLDER}/` });
    Deno.renameSync(draft, library);
  } finally {
    removeIfThere(draft);
  }
  return library;
}

async function compile(
  compilers: readonly string[],
  run: Parameters<typeof runCompiler>[1],
): Promise<void> {
  const failures: string[] = [];
  for (const compiler of compilers) {
    try {
      await runCompiler(compiler, run);
      return;
    } catch (error) {
      if (!(error instanceof CaseError)) throw error;
      failures.push(error.message);
    }
  }
  throw new UserError(
    `Cannot build the recorder: ${
      failures[0] ?? "no C compiler is named"
    }; install gcc, or put a C compiler first in PATH`,
  );
}

/** The window of a recording. */
export interface Recording {
  /** The folder that each process writes its file into. */
  readonly folder: string;
  /** Seconds between the first GEMM and the window. */
  readonly warmup: number;
  /** Seconds of the window; 0 until the program ends. */
  readonly seconds: number;
  /** The NVTX range that is the window; the two above have no meaning then. */
  readonly range: string | undefined;
}

/** Returns the variables by which a program loads the recorder `library`. */
export function recorderVariables(
  library: string,
  { folder, warmup, seconds, range }: Recording,
): Readonly<Record<string, string>> {
  const before = (path: string, name: string) => {
    const old = Deno.env.get(name) ?? "";
    return old === "" ? path : `${path}:${old}`;
  };
  const [cupti] = find(CUPTI, thisHost);
  return {
    LD_PRELOAD: before(library, "LD_PRELOAD"),
    // The driver loads it when CUDA starts, also into programs that are linked statically to it.
    CUDA_INJECTION64_PATH: library,
    // NVTX loads it where the program marks ranges, unless another tool listens to them.
    NVTX_INJECTION64_PATH: Deno.env.get("NVTX_INJECTION64_PATH") ?? library,
    PYTHONPATH: before(PYTHON, "PYTHONPATH"),
    MNKBENCH_CAPTURE_LIBRARY: library,
    MNKBENCH_CAPTURE_DIR: folder,
    MNKBENCH_CAPTURE_WARMUP: `${warmup}`,
    MNKBENCH_CAPTURE_SECONDS: `${seconds}`,
    MNKBENCH_CAPTURE_RANGE: range ?? "",
    ...(cupti === undefined ? {} : { MNKBENCH_CAPTURE_CUPTI: cupti }),
  };
}
