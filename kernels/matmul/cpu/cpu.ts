/**
 * The CPU kernels of {@linkcode matmul}: OpenBLAS, naive loops, decompose-K.
 *
 * @module
 */

import type { Build } from "../../../bench/device/device.ts";
import { i32, mem } from "../../../bench/device/queue.ts";
import { BYTES } from "../../../bench/model/dtype.ts";
import { grid } from "../../../bench/model/grid.ts";
import { defineKernel } from "../../../bench/model/kernel.ts";
import type { Kernel } from "../../../bench/model/kernel_spec.ts";
import { blasOf } from "../../common/blas.ts";
import {
  biasArg,
  epilogueArgs,
  layoutArg,
  type MatmulPoint,
  typeArg,
} from "../point.ts";
import { naive } from "./naive.ts";
import { matmul } from "../op.ts";

/** A launch shape for kernels that bring their own threads. */
const ONE = { grid: [1, 1, 1], block: [1, 1, 1] } as const;

function build(file: string): Build {
  return { source: new URL(file, import.meta.url), defines: {} };
}

const EPILOGUE = build("./epilogue.c");
const DECOMPOSE_K = build("./decompose_k.c");

/** The vendor's product, then its epilogue: the library has no fused one. */
const openblas: Kernel<MatmulPoint> = defineKernel(matmul, {
  name: "openblas",
  backend: "cpu",
  idea: "cblas_sgemm, then the epilogue as a step of its own",
  unsupported: ({ type }) =>
    type === "f16" ? "OpenBLAS has no product of f16 matrices" : undefined,
  builds: (point) => needsEpilogue(point) ? [EPILOGUE] : [],
  prepare({ point, operands, device, program, alloc }) {
    const { m, n, k, type, layout, lda, ldb, ldc } = point;
    const blas = blasOf(device);
    // fp32 goes straight into C; other types by way of fp32 sums.
    const [sums, ld] = type === "f32"
      ? [operands.C!, ldc]
      : [alloc(m * n * BYTES.f32), n];
    const gemm = blas.gemm({
      m,
      n,
      k,
      a: { memory: operands.A!, type, ld: lda },
      b: {
        memory: operands.B!,
        type,
        ld: ldb,
        transposed: layout === "nt",
      },
      c: { memory: sums, type: "f32", ld },
    });
    if (!needsEpilogue(point)) return { steps: [gemm] };
    const epilogue = program(EPILOGUE, "epilogue").step([
      mem(sums),
      biasArg(operands),
      mem(operands.C!),
      ...[m, n, ld, ldc].map(i32),
      typeArg(point),
      ...epilogueArgs(point),
    ], ONE);
    return { steps: [gemm, epilogue] };
  },
});

function needsEpilogue({ type, epilogue }: MatmulPoint): boolean {
  return type !== "f32" || epilogue !== "none";
}

/** Instruction sets of decompose_k.h that a test may force; 0 is the CPU's best. */
export const SETS = {
  best: 0,
  generic: 1,
  avx2: 2,
  avx512: 3,
  avx512_bf16: 4,
  neon: 5,
} as const;

/** The name of an instruction set. */
export type InstructionSet = keyof typeof SETS;

/** The tunables. */
type DecomposeK = {
  /** k's of a block that is held in the caches; a multiple of 16, at most MAX_DEPTH. */
  readonly DEPTH: number;
};

/** 32-bit units that a thread converts at a time: SCRATCH in decompose_k.h, per k. */
const SCRATCH_UNITS = 128 + 64;

/** The kernel for one instruction set. */
export function decomposeK(set: InstructionSet): Kernel<MatmulPoint> {
  return defineKernel<MatmulPoint, DecomposeK>(matmul, {
    name: "decompose-k",
    backend: "cpu",
    idea: "a slice of K for each thread, summed in a fixed order",
    configs: () => grid({ DEPTH: [512, 256, 128] }),
    rules: [blockWithinSlice],
    builds: () => [DECOMPOSE_K],
    prepare({ point, config: { DEPTH }, operands, device, program, alloc }) {
      const { m, n, k, lda, ldb, ldc } = point;
      const slices = slicesOf(point, device.info.units);
      const padded = Math.ceil(n / 16) * 16;
      const step = program(DECOMPOSE_K, "decompose_k").step([
        mem(operands.A!),
        mem(operands.B!),
        biasArg(operands),
        mem(operands.C!),
        mem(alloc(slices * m * padded * BYTES.f32)),
        mem(alloc(slices * SCRATCH_UNITS * DEPTH * BYTES.f32)),
        ...[m, n, k, lda, ldb, ldc].map(i32),
        typeArg(point),
        layoutArg(point),
        ...epilogueArgs(point),
        ...[slices, DEPTH, SETS[set]].map(i32),
      ], ONE);
      return { steps: [step] };
    },
  });
}

/** A slice for each core, but none of less than 64 k's, which would not pay for its sum. */
function slicesOf({ k }: MatmulPoint, units: number): number {
  return Math.max(1, Math.min(units, Math.floor(k / 64)));
}

/** The deepest block that a slice fills, or the smallest there is: others do the same. */
function blockWithinSlice(
  point: MatmulPoint,
  { DEPTH }: DecomposeK,
  { units }: { readonly units: number },
): string | undefined {
  const slice = Math.ceil(point.k / slicesOf(point, units));
  return DEPTH > Math.max(slice, 128)
    ? `a block of ${DEPTH} is deeper than a slice of ${slice}`
    : undefined;
}

/** In the order of listings and tables. */
export const cpuKernels: readonly Kernel<MatmulPoint>[] = [
  openblas,
  naive,
  decomposeK("best"),
];
