/**
 * Finds the compiler for HIP: hipRTC, else a clang with AMD's back end.
 *
 * @module
 */

import type { Compiler, Target } from "../../bench/device/device.ts";
import { CaseError } from "../../bench/model/errors.ts";
import { askTool, programCompiler } from "../shared/compiler.ts";
import {
  type Host,
  type Opened,
  pathFolders,
  rocmRoots,
} from "../shared/find_library.ts";
import { openRtc, type Rtc, rtcCompiler } from "../shared/rtc.ts";

/** Flags that every compiler of this backend takes. */
const FLAGS = ["-O3", "-std=c++17"] as const;

/** Returns what is built for `arch`. */
export function hipTarget(arch: string): Target {
  return { arch, extension: "hsaco", flags: FLAGS };
}

/** Programs on the path that compile HIP, the preferred first. */
const CLANGS = [
  "amdclang++",
  ...[22, 21, 20, 19, 18, 17].map((version) => `clang-${version}`),
  "clang",
];

/**
 * Returns hipRTC where it was found, else the first clang that knows `target`.
 *
 * @throws {CaseError} `compile`, where there is neither, with all that was tried.
 */
export function hipCompiler(
  hiprtc: Opened<Rtc>,
  target: Target,
  host: Host,
): Compiler {
  const options = [`--offload-arch=${target.arch}`, ...target.flags];
  if ("value" in hiprtc) {
    return rtcCompiler(hiprtc.value, { tool: "hiprtc", options, includes: [] });
  }
  const clangs = findClangs(host);
  const usable = clangs.find((path) => knows(path, target));
  const compiler = usable && programCompiler(usable, {
    options: [
      ...["-x", "hip", "--offload-device-only", "--no-gpu-bundle-output"],
      // The kernels bring what they need of HIP (kernels/device/gfx.h).
      ...["-nogpuinc", "-nogpulib", ...options],
    ],
  });
  if (compiler) return compiler;
  const refused = clangs.length === 0
    ? `no clang (tried PATH, ${
      rocmRoots(host).map((root) => `${root}/llvm/bin`).join(", ")
    })`
    : `no clang that knows ${target.arch} (tried ${clangs.join(", ")})`;
  throw new CaseError(
    "compile",
    `Cannot compile for HIP: no hipRTC (${hiprtc.reason}) and ${refused}; install ROCm, or: apt-get install clang-19 lld-19`,
  );
}

/** Every clang: of ROCm, then on the path. */
function findClangs(host: Host): readonly string[] {
  const folders = [
    ...rocmRoots(host).map((root) => `${root}/llvm/bin`),
    ...pathFolders(host),
  ];
  const names = CLANGS.flatMap((name) =>
    folders.filter((folder) => host.list(folder).includes(name))
      .map((folder) => `${folder}/${name}`)
  );
  return [...new Set(names)];
}

/** Returns whether the clang at `path` lists the processor. */
function knows(path: string, { arch }: Target): boolean {
  const answer = askTool(path, [
    "--target=amdgcn-amd-amdhsa",
    "-nogpulib",
    "--print-supported-cpus",
  ]);
  const text = `${answer?.stdout ?? ""}${answer?.stderr ?? ""}`;
  return new RegExp(`\\b${arch}\\b`).test(text);
}

/**
 * Opens hipRTC at `path`.
 *
 * @throws {Error} If there is no such library.
 */
export function openHiprtc(path: string): Rtc {
  return openRtc(path, "hiprtc", "Code");
}
