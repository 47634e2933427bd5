/**
 * hipBLAS and, where it is found, hipBLASLt as one matrix library.
 *
 * @module
 */

import type { Device } from "../../bench/device/device.ts";
import type { BlasFound } from "../shared/driver/device.ts";
import type { Session } from "../shared/driver/session.ts";
import type { Host } from "../shared/find_library.ts";
import { createHipblas, openHipblas } from "./hipblas.ts";
import { createHipblaslt, openHipblaslt } from "./hipblaslt.ts";
import { openRocm } from "./rocm.ts";

const HIPBLAS_LIBRARIES = ["libhipblas.so.3", "libhipblas.so.2"];
const HIPBLASLT_LIBRARIES = [
  "libhipblaslt.so.1",
  "libhipblaslt.so.0",
  "libhipblaslt.so",
];

/** The places of the libraries. */
export interface HipBlasPlaces {
  readonly host: Host;
  /** The only paths to try, in place of what the host has. */
  readonly libraries: {
    readonly hipblas?: readonly string[];
    readonly hipblaslt?: readonly string[];
  };
}

/**
 * Opens the first hipBLAS, with hipBLASLt for fused products where there is one, or says
 * why there is none.
 */
export function openHipBlas(
  { host, libraries }: HipBlasPlaces,
  { enter, stream }: Session,
  _device: Device,
): BlasFound {
  // An emulated device has none: its library would run on no device of its own.
  if (libraries.hipblas?.length === 0) {
    return { reason: "hipBLAS is not emulated" };
  }
  const plain = openRocm(
    HIPBLAS_LIBRARIES,
    { host, paths: libraries.hipblas },
    (path) => {
      enter();
      return createHipblas(openHipblas(path), stream);
    },
  );
  if ("reason" in plain) {
    return {
      reason: `No hipBLAS: ${plain.reason}; install ROCm's hipblas package`,
    };
  }
  const lt = openRocm(
    HIPBLASLT_LIBRARIES,
    { host, paths: libraries.hipblaslt },
    (path) => createHipblaslt(openHipblaslt(path), stream),
  );
  const { value, path } = plain;
  const fused = "value" in lt ? lt.value : undefined;
  const products = fused && {
    fused: fused.fused,
    algorithms: fused.algorithms,
    fusedBy: fused.fusedBy,
  };
  return {
    blas: {
      name: "hipblas",
      // hipBLAS itself has no call for its version that every release has.
      version: `${/\.so\.([\d.]+)$/.exec(path)?.[1] ?? "?"}${
        fused ? ` hipblaslt ${fused.version}` : ""
      }`,
      path,
      gemm: value.gemm,
      ...products,
      [Symbol.dispose]() {
        fused?.[Symbol.dispose]();
        value[Symbol.dispose]();
      },
    },
  };
}
