/**
 * The matrix library of a device, or the reason why a kernel that calls it is unsupported.
 *
 * @module
 */

import type { Blas } from "../../bench/device/blas.ts";
import type { Device } from "../../bench/device/device.ts";
import { CaseError } from "../../bench/model/errors.ts";

/** Returns the library. @throws {CaseError} `unsupported`, where there is none. */
export function blasOf(
  { blas, blasReason }: Pick<Device, "blas" | "blasReason">,
): Blas {
  if (blas) return blas;
  throw new CaseError(
    "unsupported",
    blasReason ?? "the device has no matrix library",
  );
}

/**
 * Returns the library's fused products.
 *
 * @param title How people write the name of the library that has them.
 * @throws {CaseError} `unsupported`, where there is no library, or none with fused products.
 */
export function fusedBlasOf(
  device: Device,
  title: string,
): Required<Pick<Blas, "fused" | "algorithms" | "fusedBy">> {
  const { name, version, fused, algorithms, fusedBy } = blasOf(device);
  if (fused && algorithms && fusedBy) return { fused, algorithms, fusedBy };
  throw new CaseError(
    "unsupported",
    `${name} ${version} has no fused products: ${title} was not found`,
  );
}
