/**
 * AMD's run-time compiler.
 *
 * @module
 */

import type { Compiler, Target } from "../../bench/device/device.ts";
import { openRtc, type Rtc, rtcCompiler } from "../shared/rtc.ts";

/**
 * Opens the library at `path`.
 *
 * @throws {Error} If there is no such library.
 */
export function openHiprtc(path: string): Rtc {
  return openRtc(path, {
    version: "hiprtcVersion",
    createProgram: "hiprtcCreateProgram",
    compileProgram: "hiprtcCompileProgram",
    destroyProgram: "hiprtcDestroyProgram",
    codeSize: "hiprtcGetCodeSize",
    code: "hiprtcGetCode",
    logSize: "hiprtcGetProgramLogSize",
    log: "hiprtcGetProgramLog",
    errorString: "hiprtcGetErrorString",
  });
}

/** Returns the compiler that `hiprtc` is for `target`. */
export function hiprtcCompiler(hiprtc: Rtc, target: Target): Compiler {
  const options = [`--offload-arch=${target.arch}`, ...target.flags];
  return rtcCompiler(hiprtc, { tool: "hiprtc", options, includes: [] });
}
