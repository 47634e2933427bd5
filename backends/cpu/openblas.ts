/**
 * OpenBLAS, found where the system keeps it.
 *
 * @module
 */

import type { Blas, Gemm, Matrix } from "../../bench/device/blas.ts";
import type { Step } from "../../bench/device/queue.ts";
import { BYTES } from "../../bench/model/dtype.ts";
import { CaseError } from "../../bench/model/errors.ts";
import { textAt } from "../shared/ffi.ts";
import { openFirst } from "../shared/find_library.ts";
import { cpuSystem } from "./system.ts";

const i = "i32";
const p = "pointer";
/** Order, transA, transB, m, n, k, alpha, A, lda, B, ldb, beta, C, ldc. */
const GEMM = [i, i, i, i, i, i, "f32", p, i, p, i, "f32", p, i] as const;

const SYMBOLS = {
  openblas_get_config: { parameters: [], result: "u64" },
  openblas_set_num_threads: { parameters: ["i32"], result: "void" },
  openblas_get_num_threads: { parameters: [], result: "i32" },
  cblas_sgemm: { parameters: GEMM, result: "void" },
  // Missing in builds without BUILD_BFLOAT16, as Debian's.
  cblas_sbgemm: { parameters: GEMM, result: "void", optional: true },
} as const satisfies Deno.ForeignLibraryInterface;

/** CBLAS_ORDER and CBLAS_TRANSPOSE. */
const ROW_MAJOR = 101;
const [NO_TRANS, TRANS] = [111, 112];

/**
 * The first of `libraries` that opens, with `threads` threads; or why none does.
 */
export function openBlas(
  libraries: readonly string[],
  threads: number,
): { readonly blas?: Blas; readonly reason: string } {
  const opened = openFirst(libraries, (path) => Deno.dlopen(path, SYMBOLS));
  if ("value" in opened) {
    return { blas: blasOf(opened.value, threads), reason: "" };
  }
  return {
    reason:
      // Tables show what is before the first semicolon.
      `No OpenBLAS: ${cpuSystem().install.openblas}; ${opened.reason}`,
  };
}

type Library = Deno.DynamicLibrary<typeof SYMBOLS>;

function blasOf({ symbols }: Library, threads: number): Blas {
  const text = textAt(symbols.openblas_get_config());
  symbols.openblas_set_num_threads(threads);
  return {
    name: "openblas",
    // `OpenBLAS 0.3.21 NO_LAPACKE DYNAMIC_ARCH ... MAX_THREADS=64`
    version: /\d+(\.\d+)+/.exec(text)?.[0] ?? text,
    threads: symbols.openblas_get_num_threads(),
    gemm: (gemm) => gemmStep(symbols, gemm),
  };
}

function gemmStep(symbols: Library["symbols"], gemm: Gemm): Step {
  const { m, n, k, a, b, c, batch = 1 } = gemm;
  const types = [a.type, b.type, c.type].join(",");
  const label = types === "f32,f32,f32"
    ? "cblas_sgemm"
    : types === "bf16,bf16,f32"
    ? "cblas_sbgemm"
    : undefined;
  const call = label && symbols[label];
  if (!call) {
    throw new CaseError(
      "unsupported",
      label
        ? `This OpenBLAS was built without ${label}`
        : `OpenBLAS has no GEMM of ${a.type} and ${b.type} into ${c.type}`,
    );
  }
  const transposed = (matrix: Matrix) => matrix.transposed ? TRANS : NO_TRANS;
  const calls = Array.from(
    { length: batch },
    (_, i) =>
      [
        ...[ROW_MAJOR, transposed(a), transposed(b), m, n, k, 1] as const,
        ...[at(a, i), a.ld, at(b, i), b.ld, 0, at(c, i), c.ld] as const,
      ] as const,
  );
  return {
    label,
    capturable: false,
    enqueue() {
      for (const args of calls) call(...args);
    },
  };
}

/** Returns the address of matrix number `index` of a batch. */
function at({ memory, type, stride = 0 }: Matrix, index: number) {
  return Deno.UnsafePointer.create(
    memory.address + BigInt(index * stride * BYTES[type]),
  );
}
