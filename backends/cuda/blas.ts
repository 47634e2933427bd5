/**
 * cuBLAS, called as torch.mm and torch.bmm call it, and cuBLASLt as one matrix library.
 *
 * @module
 */

import type { Device } from "../../bench/device/device.ts";
import { createCublaslt, openCublaslt } from "./cublaslt.ts";
import {
  CUBLAS_NUMBERS,
  failureOf,
  GEMMS,
  gemmStep,
  HANDLE,
} from "../shared/blas/gemm.ts";
import { openChecked, statusCalls } from "../shared/driver/checked.ts";
import type { BlasFound } from "../shared/driver/device.ts";
import type { Session } from "../shared/driver/session.ts";
import { out32, out64, textAt } from "../shared/ffi.ts";
import { type Host, inCuda, openWanted } from "../shared/find_library.ts";

/** cuBLASLt is always beside it. */
const LIBRARY = inCuda(
  ["libcublas.so.13", "libcublas.so.12"],
  ["nvidia/cu13/lib", "nvidia/cublas/lib"],
);

const CUBLAS = {
  ...statusCalls(HANDLE, (call) => `cublas${call}_v2`),
  ...statusCalls(GEMMS, (call) => `cublas${call}`),
  cublasGetVersion_v2: { parameters: ["u64", "buffer"], result: "i32" },
  cublasSetWorkspace_v2: { parameters: ["u64", "u64", "u64"], result: "i32" },
  cublasSetMathMode: { parameters: ["u64", "i32"], result: "i32" },
  cublasGetStatusName: { parameters: ["i32"], result: "u64" },
  cublasGetStatusString: { parameters: ["i32"], result: "u64" },
} as const satisfies Deno.ForeignLibraryInterface;

const DEFAULT_MATH = 0;
const MIB = 2 ** 20;

/**
 * Opens the first cuBLAS that works with this driver, or says why there is none.
 *
 * @param only.cublas The only paths to try, in place of what `host` has.
 */
export function openCudaBlas(
  host: Host,
  only: { readonly cublas?: readonly string[] },
  { enter, stream }: Session,
  device: Device,
): BlasFound {
  const { cublas: paths } = only;
  // An emulated device has none: its library would run on no device of its own.
  if (paths?.length === 0) return { reason: "cuBLAS is not emulated" };
  const opened = openWanted(LIBRARY, { host, paths }, (path) => {
    using stack = new DisposableStack();
    // First, so that the loader has what cuBLAS asks for even where only we know its
    // folder.
    const lt = openCublaslt(path.replace("libcublas.so", "libcublasLt.so"));
    const library = openChecked(path, CUBLAS, {
      releasing: ["Destroy"],
      failure: (status) => failureOf(CUBLAS_NUMBERS, status),
      explain: ({ cublasGetStatusName, cublasGetStatusString }, status) => ({
        name: textAt(cublasGetStatusName(status)),
        text: textAt(cublasGetStatusString(status)),
      }),
    });
    enter();
    const handle = out64((to) => library.Create(to));
    stack.defer(() => library.Destroy(handle));
    const workspace = stack.use(device.alloc(workspaceBytes(device.info.arch)));
    library.SetStream(handle, stream);
    // After the stream: setting a stream resets the workspace.
    const bytes = BigInt(workspace.bytes);
    library.cublasSetWorkspace_v2(handle, workspace.address, bytes);
    library.cublasSetMathMode(handle, DEFAULT_MATH);
    const version = out32((to) => library.cublasGetVersion_v2(handle, to));
    const cublaslt = stack.use(createCublaslt(lt, stream));
    return { library, handle, version, cublaslt, owned: stack.move() };
  });
  if ("reason" in opened) {
    return {
      reason:
        `No cuBLAS: ${opened.reason}; install the CUDA toolkit, or: pip install nvidia-cublas`,
    };
  }
  const { library, handle, version, cublaslt, owned } = opened.value;
  return {
    blas: {
      ...cublaslt,
      name: "cublas",
      version: formatVersion(version),
      path: opened.path,
      gemm: (gemm) => gemmStep(CUBLAS_NUMBERS, library, handle, gemm),
      [Symbol.dispose]: () => owned.dispose(),
    },
  };
}

/** Returns the workspace that torch gives to cuBLAS on a device of `arch`, bytes. */
export function workspaceBytes(arch: string): number {
  // Elsewhere `:4096:2:16:8`: two buffers of 4 MiB and eight of 16 KiB.
  return arch.startsWith("sm_90") ? 32 * MIB : 8 * MIB + MIB / 8;
}

/** Formats 130002 as `13.0.2`. */
export function formatVersion(version: number): string {
  const unit = version >= 100_000 ? 10_000 : 1000;
  const [major, rest] = [Math.floor(version / unit), version % unit];
  return `${major}.${Math.floor(rest / 100)}.${rest % 100}`;
}
