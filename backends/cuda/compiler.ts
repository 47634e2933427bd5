/**
 * Finds the compiler for CUDA: NVRTC, else nvcc.
 *
 * @module
 */

import type { Compiler, Target } from "../../bench/device/device.ts";
import { CaseError } from "../../bench/model/errors.ts";
import {
  find,
  type Host,
  inCuda,
  type Opened,
  pathFolders,
} from "../shared/find_library.ts";
import { programCompiler } from "../shared/compiler.ts";
import { openRtc, type Rtc, rtcCompiler, tryRtc } from "../shared/rtc.ts";

/** Flags that every compiler of this backend takes. */
const FLAGS = ["-std=c++17"] as const;

/** Types such as `__nv_bfloat16`. */
const TYPES = inCuda(
  ["cuda_fp16.h"],
  ["nvidia/cu13/include", "nvidia/cuda_runtime/include"],
  ["include", "targets/*/include"],
);
/**
 * CCCL, by `nv/target`, which those headers include. CUDA 13 has it in a folder of its own, and
 * `nv` alone, without `cuda/barrier` and the like, beside its headers too.
 */
const CCCL = inCuda(
  ["target"],
  [
    "nvidia/cu13/include/cccl/nv",
    "nvidia/cu13/include/nv",
    "nvidia/cuda_cccl/include/nv",
    "nvidia/cuda_runtime/include/nv",
  ],
  ["include/cccl/nv", "targets/*/include/cccl/nv", "include/nv"],
);

/**
 * Returns what is built for `arch`. nvcc appends the flags of `NVCC_APPEND_FLAGS` by itself; here
 * they belong to the kernel's hash, and NVRTC takes them too.
 */
export function cudaTarget(arch: string): Target {
  const more = Deno.env.get("NVCC_APPEND_FLAGS")?.trim() ?? "";
  const flags = more === "" ? FLAGS : [...FLAGS, ...more.split(/\s+/)];
  return { arch, extension: "cubin", flags };
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
  const first = (wanted: typeof TYPES, up: number) => {
    const all = find(wanted, host);
    const path = all.find((p) => beside && p.startsWith(`${beside}/`)) ??
      all[0];
    return path?.split("/").slice(0, -up).join("/");
  };
  const found = [first(TYPES, 1), first(CCCL, 2)];
  const includes = found.flatMap((folder) => folder ?? []);
  return {
    includes: [...new Set(includes)],
    complete: includes.length === found.length,
  };
}

/**
 * Returns NVRTC where it and CUDA's headers are found, else nvcc.
 *
 * @param chosen `nvrtc`, `nvcc` or the path of an nvcc: the only one to take.
 * @throws {CaseError} `compile`, where there is neither, with all that was tried.
 */
export function cudaCompiler(
  nvrtc: Opened<Rtc>,
  target: Target,
  host: Host,
  chosen?: string,
): Compiler {
  const headers = "value" in nvrtc
    ? cudaIncludes(nvrtc.path, host)
    : { includes: [], complete: false };
  const byNvcc = chosen === "nvcc" || chosen?.includes("/");
  if (chosen !== undefined && chosen !== "nvrtc" && !byNvcc) {
    throw new CaseError(
      "compile",
      `Cannot compile for CUDA by ${chosen}: name nvrtc, nvcc or the path of an nvcc, or compile to a .cubin yourself`,
    );
  }
  if ("value" in nvrtc && headers.complete && !byNvcc) {
    return nvrtcCompiler(nvrtc.value, target, headers.includes);
  }
  const nvcc = chosen?.includes("/") ? chosen : findNvcc(host);
  const program = nvcc && chosen !== "nvrtc" && programCompiler(nvcc, {
    options: [
      "-cubin",
      // Not -arch=sm_90a: that form may also compile for plain sm_90.
      `-gencode=arch=${
        target.arch.replace("sm_", "compute_")
      },code=${target.arch}`,
      ...target.flags,
    ],
  });
  if (program) return program;
  // Enough for a source that includes nothing of CUDA's.
  if ("value" in nvrtc && !byNvcc) {
    return nvrtcCompiler(nvrtc.value, target, headers.includes);
  }
  if (chosen?.includes("/")) {
    throw new CaseError(
      "compile",
      `Cannot compile for CUDA by ${chosen}: it does not run; name the path of an nvcc, or nvcc for the one on PATH`,
    );
  }
  throw new CaseError(
    "compile",
    `Cannot compile for CUDA: no NVRTC (${
      "reason" in nvrtc ? nvrtc.reason : "another compiler was asked for"
    }) and no nvcc (tried PATH, ${
      NVCC.folders(host).join(", ")
    }); install the CUDA toolkit, or: pip install nvidia-cuda-nvrtc nvidia-cuda-runtime nvidia-cuda-cccl`,
  );
}

/** NVRTC's library. */
export const NVRTC = inCuda(
  ["libnvrtc.so.13", "libnvrtc.so.12", "libnvrtc.so"],
  ["nvidia/cu13/lib", "nvidia/cuda_nvrtc/lib"],
);

/**
 * Opens NVRTC at `path`.
 *
 * @throws {Error} If there is no such library.
 */
export function openNvrtc(path: string): Rtc {
  return openRtc(path, "nvrtc", "CUBIN");
}

/**
 * Opens NVRTC at `path`, with the library of built-in functions beside it: that of a wheel is on no
 * path of the loader, and NVRTC opens it by its name alone.
 *
 * @throws {Error} If there is no such library, or it compiles nothing.
 */
export function openWorkingNvrtc(path: string, host: Host): Rtc {
  const folder = path.slice(0, path.lastIndexOf("/") + 1);
  for (const name of folder === "" ? [] : host.list(folder)) {
    if (name.startsWith("libnvrtc-builtins.so.")) {
      Deno.dlopen(folder + name, {});
    }
  }
  const rtc = openNvrtc(path);
  tryRtc(rtc);
  return rtc;
}

function nvrtcCompiler(
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

const NVCC = inCuda(
  ["nvcc"],
  ["nvidia/cu13/bin", "nvidia/cuda_nvcc/bin"],
  ["bin"],
);

/** Returns the first nvcc: on the path, in a toolkit, in a wheel. */
export function findNvcc(host: Host): string | undefined {
  const folders = [...pathFolders(host), ...NVCC.folders(host)];
  return find({ ...NVCC, folders: () => folders }, host)[0];
}
