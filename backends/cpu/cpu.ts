/**
 * The CPU: shared libraries built by the C compiler, called in this thread, timed by the
 * monotonic clock. Launch shapes are ignored: a kernel brings its own threads.
 *
 * @module
 */

import os from "node:os";
import type {
  Backend,
  Build,
  Compiler,
  DeviceInfo,
  Found,
  Target,
} from "../../bench/device/device.ts";
import { CaseError } from "../../bench/model/errors.ts";
import { askTool, defines, runCompiler } from "../shared/compiler.ts";
import { CpuDevice } from "./device.ts";
import { LIBRARIES } from "./openblas.ts";
import { basename } from "node:path";
import { fileURLToPath } from "node:url";

/** Settings that tests and unusual machines change. */
export interface CpuOptions {
  /** C compilers to try, in order. @default {["cc", "gcc", "clang"]} */
  readonly compilers?: readonly string[];
  /** OpenBLAS libraries to try, in order. @default {the usual names and folders} */
  readonly libraries?: readonly string[];
  /** Milliseconds in which a compiler says its version. @default {20000} */
  readonly patienceMs?: number;
}

/** Contraction makes `a * b + c` one rounding, an IEEE fused multiply-add. */
const FLAGS = [
  "-O3",
  "-std=gnu11",
  "-shared",
  "-fPIC",
  "-pthread",
  "-ffp-contract=fast",
  "-Werror=implicit-function-declaration",
];

const MIB = 1 << 20;

/** A CPU backend with other tools than the usual. */
export function cpuBackend(options: CpuOptions = {}): Backend {
  const names = options.compilers ?? ["cc", "gcc", "clang"];
  const target = (arch: string): Target => ({
    arch,
    extension: "so",
    flags: FLAGS,
  });
  return {
    name: "cpu",
    shared: true,
    find: (): Found => ({ devices: [thisCpu()], reason: "" }),
    target,
    compiler(arch) {
      // A foreign architecture needs a cross compiler, by the name that Debian gives it.
      const tools = arch === Deno.build.arch
        ? names
        : [`${arch}-linux-gnu-gcc`];
      return findCompiler(target(arch), tools, options.patienceMs);
    },
    open(info) {
      if (info.arch !== Deno.build.arch) {
        throw new CaseError(
          "launch",
          `Cannot open a CPU of ${info.arch}: this one is ${Deno.build.arch}`,
        );
      }
      return new CpuDevice(info, options.libraries ?? LIBRARIES);
    },
    instruments: new URL("./instruments.c", import.meta.url),
  };
}

/** The CPU backend. */
export const cpu: Backend = cpuBackend();

/** Binaries are portable within `arch`: kernels choose instruction sets when they run. */
function thisCpu(): DeviceInfo {
  const model = os.cpus()[0]?.model.trim() ?? "";
  const cacheBytes = lastLevelCache();
  return {
    index: 0,
    name: model === "" || model === "unknown" ? Deno.build.arch : model,
    arch: Deno.build.arch,
    units: navigator.hardwareConcurrency,
    cacheBytes,
    flushBytes: Math.max(2 * cacheBytes, 64 * MIB),
    sharedBytes: 0,
    driver: Deno.osRelease(),
  };
}

/** Bytes of the largest cache that Linux lists for the first core, or a usual 32 MiB. */
function lastLevelCache(): number {
  const folder = "/sys/devices/system/cpu/cpu0/cache";
  const files = [0, 1, 2, 3, 4].map((i) => `${folder}/index${i}/size`);
  const sizes = readSystem(files).matchAll(/^(\d+)([KMG])$/gm);
  const bytes = [...sizes].map(([, digits, unit]) =>
    Number(digits) * 1024 ** (" KMG".indexOf(unit!))
  );
  return Math.max(0, ...bytes) || 32 * MIB;
}

/**
 * The text of those `files` of the system that exist. Deno lets a program read /sys only
 * with every permission; without, `cat` reads it.
 */
function readSystem(files: readonly string[]): string {
  return askTool("cat", files)?.stdout ?? "";
}

/** After the sources, where linkers want them. */
const LINKED = ["-lm"];

/**
 * The first of `names` that runs here, as a compiler for `target`.
 *
 * @throws {CaseError} `compile`, with the names that were tried, or where one hangs.
 */
export function findCompiler(
  target: Target,
  names: readonly string[],
  patienceMs?: number,
): Compiler {
  for (const name of names) {
    const version = versionOf(name, patienceMs);
    if (version === undefined) continue;
    return {
      signature: `${basename(name)} ${version}`,
      compile: (build, binary) => compile(name, target, { build, binary }),
    };
  }
  throw new CaseError(
    "compile",
    `No C compiler for ${target.arch}: tried ${
      names.join(", ")
    }; install one, as in apt-get install gcc`,
  );
}

/**
 * The version that the program `name` tells, or nothing if there is no such program.
 *
 * @throws {CaseError} `compile`, where it hangs.
 */
function versionOf(name: string, patienceMs?: number): string | undefined {
  const answer = askTool(name, ["--version"], patienceMs);
  if (!answer?.success) return undefined;
  return /\d+\.\d+(\.\d+)?/.exec(answer.stdout)?.[0] ??
    "of unknown version";
}

async function compile(
  name: string,
  target: Target,
  { build, binary }: { build: Build; binary: string },
): Promise<string> {
  const source = fileURLToPath(build.source);
  return await runCompiler(name, {
    args: [
      ...target.flags,
      ...defines(build),
      source,
      "-o",
      binary,
      ...LINKED,
    ],
    // The first error is looked for by its English name.
    env: { LC_ALL: "C" },
    binary,
    folder: source.slice(0, source.length - basename(source).length),
  });
}
