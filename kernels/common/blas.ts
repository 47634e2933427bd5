/**
 * The kernels that call a device's matrix library with a fused product, and the reason why a kernel
 * that calls it is unsupported.
 *
 * @module
 */

import type { Blas, FusedGemm } from "../../bench/device/blas.ts";
import type { Device } from "../../bench/device/device.ts";
import { CaseError } from "../../bench/model/errors.ts";
import type { Values } from "../../bench/model/grid.ts";
import { defineKernel } from "../../bench/model/kernel.ts";
import type { Kernel } from "../../bench/model/kernel_spec.ts";
import type { Op } from "../../bench/model/op.ts";
import type { Operands } from "../../bench/model/problem.ts";

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
 * Returns what the library has for a GEMM with its epilogue.
 *
 * @param title How people write the name of the library that has them.
 * @throws {CaseError} `unsupported`, where there is no library, or none with them.
 */
function fusedBlasOf(
  device: Device,
  title: string,
): Required<Pick<Blas, "fused" | "algorithms" | "fusedBy">> {
  const { name, version, fused, algorithms, fusedBy } = blasOf(device);
  if (fused && algorithms && fusedBy) return { fused, algorithms, fusedBy };
  throw new CaseError(
    "unsupported",
    `${name} ${version} has no GEMM with epilogue: ${title} was not found`,
  );
}

/** A library of GEMMs with epilogues, and the product that an operation asks of it. */
export interface FusedLibrary<P> {
  readonly backend: string;
  /** The library, as its kernel is called, and as people write it. */
  readonly name: string;
  readonly title: string;
  readonly workspaceBytes: number;
  /** What it computes, for the ideas of the kernels, and its word for what a search goes through. */
  readonly product: string;
  readonly searched: string;
  /** @default {it can} */
  unsupported?(point: P): string | undefined;
  gemmOf(point: P, operands: Operands): Omit<FusedGemm, "workspace">;
}

/** The library's fused product by its first heuristic, and by whichever algorithm is fastest here. */
export function fusedKernels<P>(
  op: Op<P>,
  library: FusedLibrary<P>,
): readonly [fused: Kernel<P>, tuned: Kernel<P>] {
  const { backend, name, title, product, searched, workspaceBytes, gemmOf } =
    library;
  const common = {
    backend,
    library: true,
    unsupported: (point: P) => library.unsupported?.(point),
  };
  const fused = defineKernel(op, {
    ...common,
    name,
    idea: `${product}, by its first heuristic`,
    prepare({ point, operands, device, alloc }) {
      const gemm = gemmOf(point, operands);
      const workspace = alloc(workspaceBytes);
      const [choice] = fusedBlasOf(device, title).fused(
        { ...gemm, workspace },
        1,
      );
      return { steps: [choice!.step] };
    },
  });
  const tuned = defineKernel<P, Values>(op, {
    ...common,
    name: `${name}-tuned`,
    idea: `${product}, by a search of its ${searched}`,
    offers(point, device) {
      // Aligned as operands are, which are not there yet; nothing is launched.
      using workspace = device.alloc(workspaceBytes);
      const operands = Object.fromEntries(
        op.operands(point).map((operand) => [operand.name, workspace]),
      );
      return fusedBlasOf(device, title).algorithms(
        { ...gemmOf(point, operands), workspace },
      );
    },
    prepare({ point, config, operands, device, alloc }) {
      const { fused, fusedBy } = fusedBlasOf(device, title);
      const workspace = alloc(workspaceBytes);
      const gemm = { ...gemmOf(point, operands), workspace };
      // Without a description it is the default.
      const [choice] = Object.keys(config).length === 0
        ? fused(gemm, 1)
        : [fusedBy(gemm, config)];
      return { steps: [choice!.step] };
    },
  });
  return [fused, tuned];
}
