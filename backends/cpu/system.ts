/**
 * Describes what differs between the CPUs of Linux and of macOS: compiler options, libraries, how
 * to install them, and the size of the cache. That of macOS is from Apple's documents: man pages
 * of ld, dlopen and sysctl, and "Determining system capabilities".
 *
 * @module
 */

import { systemText } from "../../bench/device/system_files.ts";
import { askTool } from "../shared/compiler.ts";

/** What a system has for kernels in C. */
export interface CpuSystem {
  /** Extension of shared libraries. */
  readonly extension: string;
  /** Options that make one. */
  readonly shared: readonly string[];
  /** OpenBLAS: names for the dynamic linker's own search, then the usual places. */
  readonly openblas: readonly string[];
  /** Commands that install what is missing. */
  readonly install: { readonly compiler: string; readonly openblas: string };
  /** Tells the bytes of caches, one a line; `K`, `M` and `G` are factors of 1024. */
  readonly caches:
    | { readonly files: readonly string[] }
    | { readonly command: readonly [program: string, ...args: string[]] };
}

const LINUX_CACHES = "/sys/devices/system/cpu/cpu0/cache";

const linux: CpuSystem = {
  extension: "so",
  shared: ["-shared", "-fPIC", "-pthread"],
  openblas: [
    "libopenblas.so.0",
    "libopenblas.so",
    `/usr/lib/${Deno.build.arch}-linux-gnu/libopenblas.so.0`,
    "/usr/lib64/libopenblas.so.0",
    "/usr/local/lib/libopenblas.so",
    "/opt/OpenBLAS/lib/libopenblas.so",
  ],
  install: {
    compiler: "apt-get install gcc libc6-dev",
    openblas: "apt-get install libopenblas0-pthread",
  },
  caches: {
    files: [0, 1, 2, 3, 4].map((i) => `${LINUX_CACHES}/index${i}/size`),
  },
};

const darwin: CpuSystem = {
  extension: "dylib",
  // Threads and mathematics are in libSystem, and all code is position-independent.
  shared: ["-dynamiclib"],
  openblas: [
    "libopenblas.dylib",
    "/opt/homebrew/opt/openblas/lib/libopenblas.dylib",
    "/usr/local/opt/openblas/lib/libopenblas.dylib",
  ],
  install: {
    compiler: "xcode-select --install",
    openblas: "brew install openblas",
  },
  // Those of the performance cores, then those of Macs with one kind of core.
  caches: {
    command: [
      ...["sysctl", "-n", "hw.perflevel0.l2cachesize"] as const,
      ...["hw.l3cachesize", "hw.l2cachesize"],
    ],
  },
};

/** Returns what the system `os` has; Linux stands for all but macOS. */
export function cpuSystem(os: string = Deno.build.os): CpuSystem {
  return os === "darwin" ? darwin : linux;
}

const MIB = 1 << 20;
/** Bytes of a cache that is not known. */
const USUAL_CACHE = 32 * MIB;

function textOf(
  caches: CpuSystem["caches"],
  { read, ask }: {
    readonly read: typeof systemText;
    readonly ask: typeof askTool;
  },
): string {
  if ("files" in caches) return read(caches.files);
  const [program, ...args] = caches.command;
  return ask(program, args)?.stdout ?? "";
}

/** Returns the bytes of the largest cache of a system. */
export function lastLevelCache(
  { caches }: CpuSystem,
  { read = systemText, ask = askTool }: {
    readonly read?: typeof systemText;
    readonly ask?: typeof askTool;
  } = {},
): number {
  const text = textOf(caches, { read, ask });
  const bytes = [...text.matchAll(/^(\d+)([KMG]?)$/gm)].map((
    [, digits, unit],
  ) => Number(digits) * 1024 ** " KMG".indexOf(unit || " "));
  return Math.max(0, ...bytes) || USUAL_CACHE;
}
