/**
 * Finds the compiler for CUDA: NVRTC, else nvcc.
 *
 * @module
 */

import type { Compiler, Target } from "../../bench/device/device.ts";
import { CaseError } from "../../bench/model/errors.ts";
import {
  find,
  folders,
  type Host,
  type Opened,
  TOOLKIT_LIBRARIES,
  type Wanted,
} from "../shared/find_library.ts";
import { openRtc, type Rtc, rtcCompiler } from "../shared/rtc.ts";
import { fileURLToPath } from "node:url";
import { askTool, defines, runCompiler } from "../shared/compiler.ts";

/** Flags that every compiler of this backend takes. */
const FLAGS = ["-std=c++17", "-lineinfo"] as const;

/** Types such as `__nv_bfloat16`. */
const TYPES: Wanted = {
  names: ["cuda_fp16.h"],
  toolkit: ["include", "targets/*/include"],
  wheels: ["nvidia/cu13/include", "nvidia/cuda_runtime/include"],
};
/** `nv/target`, which those headers include; CUDA 13 keeps it in a folder of its own. */
const NV_TARGET: Wanted = {
  names: ["target"],
  toolkit: ["include/nv", "include/cccl/nv", "targets/*/include/cccl/nv"],
  wheels: [
    "nvidia/cu13/include/cccl/nv",
    "nvidia/cu13/include/nv",
    "nvidia/cuda_cccl/include/nv",
    "nvidia/cuda_runtime/include/nv",
  ],
};

/** Returns what is built for `arch`. */
export function cudaTarget(arch: string): Target {
  return { arch, extension: "cubin", flags: FLAGS };
}

/** Returns the folders to include, and whether CUDA's own headers are all there. */
export function cudaIncludes(
  library: string,
  host: Host,
): { readonly includes: readonly string[]; readonly complete: boolean } {
  // Headers of the library's own release come first: another may not suit it.
  const beside = library.includes("/")
    ? `${library.split("/").slice(0, -2).join("/")}/include`
    : undefined;
  const first = (wanted: Wanted, up: number) => {
    const all = find(wanted, host);
    const path = all.find((p) => beside && p.startsWith(`${beside}/`)) ??
      all[0];
    return path?.split("/").slice(0, -up).join("/");
  };
  const found = [first(TYPES, 1), first(NV_TARGET, 2)];
  const includes = found.filter((folder) => folder !== undefined);
  return {
    includes: [...new Set(includes)],
    complete: !found.includes(undefined),
  };
}

/**
 * Returns NVRTC where it and CUDA's headers are found, else nvcc.
 *
 * @throws {CaseError} `compile`, where there is neither, with all that was tried.
 */
export function cudaCompiler(
  nvrtc: Opened<Rtc>,
  target: Target,
  host: Host,
): Compiler {
  const headers = "value" in nvrtc
    ? cudaIncludes(nvrtc.path, host)
    : { includes: [], complete: false };
  if ("value" in nvrtc && headers.complete) {
    return nvrtcCompiler(nvrtc.value, target, headers.includes);
  }
  const nvcc = findNvcc(host);
  if (nvcc !== undefined) return nvccCompiler(nvcc, target);
  // Enough for a source that includes nothing of CUDA's.
  if ("value" in nvrtc) {
    return nvrtcCompiler(nvrtc.value, target, headers.includes);
  }
  throw new CaseError(
    "compile",
    `Cannot compile for CUDA: no NVRTC (${nvrtc.reason}) and no nvcc (tried PATH, ${
      folders(NVCC_WANTED, host).join(", ")
    }); install the CUDA toolkit, or: pip install nvidia-cuda-nvrtc nvidia-cuda-runtime nvidia-cuda-cccl`,
  );
}

/** Names and folders of the library. */
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

/** Folders of the program, when it is not on the path. */
export const NVCC_WANTED: Wanted = {
  names: ["nvcc"],
  toolkit: ["bin"],
  wheels: ["nvidia/cu13/bin", "nvidia/cuda_nvcc/bin"],
};

/** Returns the first nvcc: on the path, in a toolkit, in a wheel. */
export function findNvcc(host: Host): string | undefined {
  const onPath = (host.env("PATH") ?? "").split(":").find((folder) =>
    folder !== "" && host.list(folder).includes("nvcc")
  );
  return onPath === undefined ? find(NVCC_WANTED, host)[0] : `${onPath}/nvcc`;
}

/**
 * Returns the compiler that the program at `path` is for `target`.
 *
 * @throws {Error} If it cannot be run.
 */
export function nvccCompiler(path: string, target: Target): Compiler {
  const answer = askTool(path, ["--version"]);
  if (!answer) throw new Error(`${path} cannot be run`);
  const version = /release (\d+\.\d+)/.exec(answer.stdout);
  const capability = target.arch.replace("sm_", "");
  return {
    signature: `nvcc ${version?.[1] ?? "of unknown version"}`,
    async compile(build, binary) {
      const source = fileURLToPath(build.source);
      const folder = source.slice(0, source.lastIndexOf("/") + 1);
      return await runCompiler(path, {
        args: [
          "-cubin",
          // Not -arch=sm_90a: that form may also compile for plain sm_90.
          `-gencode=arch=compute_${capability},code=sm_${capability}`,
          ...target.flags,
          `-I${folder}`,
          ...defines(build),
          ...["-o", binary, source],
        ],
        binary,
        folder,
      });
    },
  };
}
