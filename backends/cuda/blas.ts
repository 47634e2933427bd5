/**
 * cuBLAS and cuBLASLt as one matrix library.
 *
 * @module
 */

import type { Device } from "../../bench/device/device.ts";
import { createCublas, openCublas } from "./cublas.ts";
import { openCublaslt } from "./cublaslt.ts";
import { createCublaslt } from "./cublaslt_tuning.ts";
import type { BlasFound } from "../shared/driver/device.ts";
import type { Session } from "../shared/driver/session.ts";
import {
  openWanted,
  type Places,
  TOOLKIT_LIBRARIES,
  type Wanted,
} from "../shared/find_library.ts";

/** Names and folders of the libraries. cuBLASLt is always beside cuBLAS. */
export const CUBLAS_WANTED: Wanted = {
  names: ["libcublas.so.13", "libcublas.so.12"],
  toolkit: TOOLKIT_LIBRARIES,
  wheels: ["nvidia/cu13/lib", "nvidia/cublas/lib"],
};

/**
 * Opens the first libraries of `places` that work with this driver, or
 * says why there are none.
 */
export function openCudaBlas(
  places: Places,
  session: Session,
  device: Device,
): BlasFound {
  // An emulated device has none: its library would run on no device of its own.
  if (places.paths?.length === 0) return { reason: "cuBLAS is not emulated" };
  const opened = openWanted(CUBLAS_WANTED, places, (path) => {
    using stack = new DisposableStack();
    // First, so that the loader has what cuBLAS asks for even where only we know its
    // folder.
    const lt = openCublaslt(path.replace("libcublas.so", "libcublasLt.so"));
    const library = openCublas(path);
    session.enter();
    const { stream } = session;
    const cublas = stack.use(createCublas(library, device, stream));
    const cublaslt = stack.use(createCublaslt(lt, stream));
    return { cublas, cublaslt, owned: stack.move() };
  });
  if ("reason" in opened) {
    return {
      reason:
        `No cuBLAS: ${opened.reason}; install the CUDA toolkit, or: pip install nvidia-cublas`,
    };
  }
  const { cublas, cublaslt, owned } = opened.value;
  return {
    blas: {
      name: "cublas",
      version: cublas.version,
      path: opened.path,
      gemm: cublas.gemm,
      fused: cublaslt.fused,
      algorithms: cublaslt.algorithms,
      fusedBy: cublaslt.fusedBy,
      [Symbol.dispose]: () => owned.dispose(),
    },
  };
}
