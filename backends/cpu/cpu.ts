/**
 * The CPU: shared libraries built by the C compiler, called in this thread, timed by the
 * monotonic clock. Launch shapes are ignored: a kernel brings its own threads.
 *
 * @module
 */

import os from "node:os";
import type { Backend, DeviceInfo, Target } from "../../bench/device/device.ts";
import { CaseError } from "../../bench/model/errors.ts";
import { programCompiler } from "../shared/compiler.ts";
import { CpuDevice } from "./device.ts";
import { openBlas } from "./openblas.ts";
import { cpuSystem, lastLevelCache } from "./system.ts";

/** Settings that tests and unusual machines change. */
interface CpuOptions {
  /** C compilers to try, in order. @default {["cc", "gcc", "clang"]} */
  readonly compilers?: readonly string[];
  /** OpenBLAS libraries to try, in order. @default {the usual names and folders} */
  readonly libraries?: readonly string[];
  /** The operating system. @default {this one} */
  readonly os?: string;
  /** Milliseconds in which a compiler says its version. @default {20000} */
  readonly patienceMs?: number;
}

/** Contraction makes `a * b + c` one rounding, an IEEE fused multiply-add. */
const FLAGS = [
  "-O3",
  "-std=gnu11",
  "-ffp-contract=fast",
  "-Werror=implicit-function-declaration",
];

const MIB = 1 << 20;

/** Creates a CPU backend with other tools than the usual. */
export function cpuBackend(
  {
    compilers = ["cc", "gcc", "clang"],
    os,
    libraries = cpuSystem(os).openblas,
    patienceMs,
  }: CpuOptions = {},
): Backend {
  const { extension, shared, install } = cpuSystem(os);
  const flags = [...FLAGS, ...shared];
  const backend: Backend = {
    name: "cpu",
    shared: true,
    graphs: false,
    find: () => ({ devices: [thisCpu()], reason: "" }),
    target: (arch): Target => ({ arch, extension, flags }),
    compiler(arch, build) {
      // A foreign architecture needs a cross compiler, by the name that Debian gives it.
      const tools = build?.compiler !== undefined
        ? [build.compiler]
        : arch === Deno.build.arch
        ? compilers
        : [`${arch}-linux-gnu-gcc`];
      const how = { options: flags, libraries: ["-lm"], patienceMs };
      for (const name of tools) {
        const compiler = programCompiler(name, how);
        if (compiler) return compiler;
      }
      throw new CaseError(
        "compile",
        `No C compiler for ${arch}: tried ${
          tools.join(", ")
        }; install one: ${install.compiler}`,
      );
    },
    open(info) {
      if (info.arch !== Deno.build.arch) {
        throw new CaseError(
          "launch",
          `Cannot open a CPU of ${info.arch}: this one is ${Deno.build.arch}`,
        );
      }
      return new CpuDevice(info, libraries);
    },
    lacks(kernels) {
      const lacking: string[] = [];
      try {
        backend.compiler(Deno.build.arch);
      } catch (error) {
        if (!(error instanceof CaseError)) throw error;
        lacking.push(error.message);
      }
      if (kernels.has("openblas") && !openBlas(libraries, 1).blas) {
        lacking.push(`No OpenBLAS to compare with: ${install.openblas}`);
      }
      return lacking;
    },
    instruments: new URL("./instruments.c", import.meta.url),
  };
  return backend;
}

/** The CPU backend. */
export const cpu: Backend = cpuBackend();

/** Binaries are portable within `arch`: kernels choose instruction sets when they run. */
function thisCpu(): DeviceInfo {
  const model = os.cpus()[0]?.model.trim() ?? "";
  const cacheBytes = lastLevelCache(cpuSystem());
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
