/**
 * The CPU kernels of {@linkcode matmul}: OpenBLAS, naive loops, a blocked product, decompose-K.
 *
 * @module
 */

import type { Build } from "../../../bench/device/device.ts";
import { i64 } from "../../../bench/device/queue.ts";
import { BYTES, decode, encode } from "../../../bench/model/dtype.ts";
import { grid } from "../../../bench/model/grid.ts";
import { defineKernel } from "../../../bench/model/kernel.ts";
import type { Kernel } from "../../../bench/model/kernel_spec.ts";
import { blasOf } from "../../common/blas.ts";
import { launch, launched } from "../../common/launch.ts";
import { matmul } from "../op.ts";
import {
  hasBias,
  hasRelu,
  type MatmulPoint,
  TYPE_NUMBERS,
  typesOf,
} from "../point.ts";

function build(file: string): Build {
  return { source: new URL(file, import.meta.url), defines: {} };
}

const EPILOGUE = build("./plain.c");
const BLOCKED = build("./blocked.c");
const DECOMPOSE_K = build("./decompose_k.c");

/** Needs no compiler, so it runs wherever Deno does: the kernel to read first. */
export const naive: Kernel<MatmulPoint> = defineKernel(matmul, {
  name: "naive",
  backend: "cpu",
  idea: "three loops in TypeScript, to be read",
  teaching: true,
  takes: ["types", "stepc"],
  prepare({ point, operands }) {
    const { m, n, k, layout, lda, ldb, ldc, stepc } = point;
    const types = typesOf(point);
    const enqueue = () => {
      const a = decode(operands.A!.host!, types.a);
      const b = decode(operands.B!.host!, types.b);
      const bias = operands.bias && decode(operands.bias.host!, types.c);
      const c = operands.C!.host!;
      const row = new Float64Array(n);
      for (let i = 0; i < m; i++) {
        for (let j = 0; j < n; j++) {
          let sum = bias?.[j] ?? 0;
          for (let p = 0; p < k; p++) {
            const at = layout === "nn" ? p * ldb + j : j * ldb + p;
            sum += a[i * lda + p]! * b[at]!;
          }
          row[j] = hasRelu(point) ? Math.max(sum, 0) : sum;
        }
        // Rows and columns of C may lie apart; what is between them is not ours.
        const [stored, size] = [encode(row, types.c), BYTES[types.c]];
        for (let j = 0; j < n; j++) {
          const element = stored.subarray(j * size, (j + 1) * size);
          c.set(element, (i * ldc + j * stepc) * size);
        }
      }
    };
    return { steps: [{ label: "naive", capturable: false, enqueue }] };
  },
});

/** The vendor's product, then its epilogue: the library has no fused one. */
const openblas: Kernel<MatmulPoint> = defineKernel(matmul, {
  name: "openblas",
  backend: "cpu",
  library: true,
  idea: "cblas_sgemm, then the epilogue as a step of its own",
  unsupported: ({ type }) =>
    type === "f16" ? "OpenBLAS has no GEMM in f16" : undefined,
  builds: (point) => needsEpilogue(point) ? [EPILOGUE] : [],
  prepare(site) {
    const { point, operands, device, alloc } = site;
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
    const { bias, C } = operands;
    const epilogue = launch(site, EPILOGUE, {
      entry: "epilogue",
      args: [
        ...[sums, bias ?? C, C, m, n, ld, ldc, TYPE_NUMBERS[type]],
        ...[hasBias(point), hasRelu(point)],
      ],
    });
    return { steps: [gemm, epilogue] };
  },
});

function needsEpilogue({ type, epilogue }: MatmulPoint): boolean {
  return type !== "f32" || epilogue !== "none";
}

/** What `blocked.c` pads to, and the k's of its blocks. */
const BLOCK = { rows: 6, cols: 16, depth: 256 };

const blocked: Kernel<MatmulPoint> = launched(matmul, {
  name: "blocked",
  backend: "cpu",
  idea: "blocks of K in the cache, tiles in registers, one thread",
  takes: ["stepc"],
  build: () => BLOCKED,
  launch({ point, operands, alloc }) {
    const { m, n, k, lda, ldb, ldc, stepc, type, layout } = point;
    const { A, B, bias, C } = operands;
    const rows = Math.ceil(m / BLOCK.rows) * BLOCK.rows;
    const cols = Math.ceil(n / BLOCK.cols) * BLOCK.cols;
    const floats = (rows + cols) * BLOCK.depth + rows * cols;
    return {
      args: [
        ...[A, B, bias ?? C, C, alloc(floats * BYTES.f32), m, n, k],
        ...[i64(lda), i64(ldb), i64(ldc), i64(stepc), TYPE_NUMBERS[type]],
        ...[layout === "nt", hasBias(point), hasRelu(point)],
      ],
    };
  },
});

/** Instruction sets of decompose_k.c that a test may force; 0 is the CPU's best. */
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

/** 32-bit units that a thread converts at a time: SCRATCH in decompose_k.c, per k. */
const SCRATCH_UNITS = 128 + 64;

/** The kernel for one instruction set. */
export function decomposeK(set: InstructionSet): Kernel<MatmulPoint> {
  return launched<MatmulPoint, DecomposeK>(matmul, {
    name: "decompose-k",
    backend: "cpu",
    idea: "a slice of K for each thread, summed in a fixed order",
    configs: () => grid({ DEPTH: [512, 256, 128] }),
    takes: ["stepc"],
    rules: [blockWithinSlice],
    build: () => DECOMPOSE_K,
    launch({ point, config: { DEPTH }, operands, device, alloc }) {
      const { m, n, k, lda, ldb, ldc, stepc, type, layout } = point;
      const { A, B, bias, C } = operands;
      const slices = slicesOf(point, device.info.units);
      const padded = Math.ceil(n / 16) * 16;
      return {
        args: [
          ...[A, B, bias ?? C, C],
          alloc(slices * m * padded * BYTES.f32),
          alloc(slices * SCRATCH_UNITS * DEPTH * BYTES.f32),
          ...[m, n, k, lda, ldb, ldc, stepc, TYPE_NUMBERS[type]],
          ...[layout === "nt", hasBias(point), hasRelu(point)],
          ...[slices, device.info.units],
          ...[DEPTH, SETS[set]],
        ],
      };
    },
  });
}

/** The k's of a slice: fewer would not pay for its sum, and more lose bits of it. */
const SLICE_K = { least: 64, most: 16_384 };

/** A slice for each core, or more where they would be too long. */
function slicesOf({ k }: MatmulPoint, units: number): number {
  const { least, most } = SLICE_K;
  return Math.max(Math.min(units, Math.floor(k / least)), Math.ceil(k / most));
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
  blocked,
  decomposeK("best"),
];
