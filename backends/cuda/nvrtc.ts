/**
 * NVIDIA's run-time compiler.
 *
 * @module
 */

import type { Compiler, Target } from "../../bench/device/device.ts";
import { TOOLKIT_LIBRARIES, type Wanted } from "../shared/find_library.ts";
import { openRtc, type Rtc, rtcCompiler } from "../shared/rtc.ts";

/** Where the library is. */
export const NVRTC_WANTED: Wanted = {
  names: ["libnvrtc.so.13", "libnvrtc.so.12", "libnvrtc.so"],
  toolkit: TOOLKIT_LIBRARIES,
  wheels: ["nvidia/cu13/lib", "nvidia/cuda_nvrtc/lib"],
};

/**
 * Opens the library at `path`.
 *
 * @throws {Error} If there is no such library.
 */
export function openNvrtc(path: string): Rtc {
  return openRtc(path, {
    version: "nvrtcVersion",
    createProgram: "nvrtcCreateProgram",
    compileProgram: "nvrtcCompileProgram",
    destroyProgram: "nvrtcDestroyProgram",
    codeSize: "nvrtcGetCUBINSize",
    code: "nvrtcGetCUBIN",
    logSize: "nvrtcGetProgramLogSize",
    log: "nvrtcGetProgramLog",
    errorString: "nvrtcGetErrorString",
  });
}

/** Returns the compiler that `nvrtc` is for `target`, finding headers in `includes`. */
export function nvrtcCompiler(
  nvrtc: Rtc,
  target: Target,
  includes: readonly string[],
): Compiler {
  const options = [
    `--gpu-architecture=${target.arch}`,
    // nvcc takes a plain constexpr function for both sides; this is NVRTC's way to it.
    "-default-device",
    ...target.flags,
  ];
  return rtcCompiler(nvrtc, { tool: "nvrtc", options, includes });
}
