/**
 * hipBLAS, called as cuBLAS is, and, where it is found, hipBLASLt as one matrix library.
 *
 * @module
 */

import {
  failureOf,
  GEMMS,
  gemmStep,
  HANDLE,
  HIPBLAS_NUMBERS,
} from "../shared/blas/gemm.ts";
import {
  type Checked,
  openChecked,
  statusCalls,
} from "../shared/driver/checked.ts";
import type { BlasFound } from "../shared/driver/device.ts";
import type { Session } from "../shared/driver/session.ts";
import { out32, out64, textAt } from "../shared/ffi.ts";
import { type Host, inRocm, openWanted } from "../shared/find_library.ts";
import { formatValues, type Values } from "../../bench/model/grid.ts";
import { createLt, type LtHandle } from "../shared/blas/lt.ts";
import {
  type Algo,
  LT_CALLS,
  LT_RELEASING,
  type LtNumbers,
} from "../shared/blas/lt_calls.ts";

const HIPBLAS_LIBRARY = inRocm(["libhipblas.so.3", "libhipblas.so.2"]);
const HIPBLASLT_LIBRARY = inRocm([
  "libhipblaslt.so.1",
  "libhipblaslt.so.0",
  "libhipblaslt.so",
]);

const [GEMM, BATCHED] = [GEMMS.GemmEx, GEMMS.GemmStridedBatchedEx];
const HIPBLAS = {
  ...statusCalls({ ...HANDLE, ...GEMMS }, (call) => `hipblas${call}`),
  // hipBLAS 2 (ROCm 6) has today's types under these names, and older types under the plain
  // ones; hipBLAS 3 (ROCm 7) has today's under the plain ones alone.
  hipblasGemmEx_v2: { parameters: GEMM, result: "i32", optional: true },
  hipblasGemmStridedBatchedEx_v2: {
    parameters: BATCHED,
    result: "i32",
    optional: true,
  },
  hipblasStatusToString: { parameters: ["i32"], result: "u64" },
} as const satisfies Deno.ForeignLibraryInterface;

/**
 * Opens the first hipBLAS, with hipBLASLt for fused products where there is one, or says
 * why there is none.
 *
 * @param only The only paths to try, in place of what `host` has.
 */
export function openHipBlas(
  host: Host,
  only: {
    readonly hipblas?: readonly string[];
    readonly hipblaslt?: readonly string[];
  },
  { enter, stream }: Session,
): BlasFound {
  // An emulated device has none: its library would run on no device of its own.
  if (only.hipblas?.length === 0) return { reason: "hipBLAS is not emulated" };
  const places = { host, paths: only.hipblas };
  const plain = openWanted(HIPBLAS_LIBRARY, places, (path) => {
    const library = openChecked(path, HIPBLAS, {
      releasing: ["Destroy"],
      failure: (status) => failureOf(HIPBLAS_NUMBERS, status),
      explain: ({ hipblasStatusToString }, status) => ({
        name: textAt(hipblasStatusToString(status)),
      }),
    });
    enter();
    const handle = out64((to) => library.Create(to));
    using stack = new DisposableStack();
    stack.defer(() => library.Destroy(handle));
    library.SetStream(handle, stream);
    return { library, handle, owned: stack.move() };
  });
  if ("reason" in plain) {
    return {
      reason: `No hipBLAS: ${plain.reason}; install ROCm's hipblas package`,
    };
  }
  const lt = openWanted(
    HIPBLASLT_LIBRARY,
    { host, paths: only.hipblaslt },
    (path) => createHipblaslt(openHipblaslt(path), stream),
  );
  const { value: { library, handle, owned }, path } = plain;
  const fused = "value" in lt ? owned.use(lt.value) : undefined;
  const calls = {
    GemmEx: library.hipblasGemmEx_v2 ?? library.GemmEx,
    GemmStridedBatchedEx: library.hipblasGemmStridedBatchedEx_v2 ??
      library.GemmStridedBatchedEx,
  };
  return {
    blas: {
      ...fused,
      name: "hipblas",
      // hipBLAS itself has no call for its version that every release has.
      version: `${/\.so\.([\d.]+)$/.exec(path)?.[1] ?? "?"}${
        fused ? ` hipblaslt ${fused.version}` : ""
      }`,
      path,
      gemm: (gemm) => gemmStep(HIPBLAS_NUMBERS, calls, handle, gemm),
      [Symbol.dispose]: () => owned.dispose(),
    },
  };
}

const HIPBLASLT = statusCalls(
  { ...LT_CALLS, GetVersion: ["u64", "buffer"] },
  (call) => `hipblasLt${call}`,
);

/** The opened library. */
type Hipblaslt = Checked<typeof HIPBLASLT>;

/** Its numbers, of hipblaslt.h. */
const NUMBERS: LtNumbers = {
  blas: HIPBLAS_NUMBERS,
  // hipblasLtMatmulDescAttributes_t
  desc: { transA: 0, transB: 1, epilogue: 2, biasPointer: 3, biasType: 4 },
  // hipblasLtMatrixLayoutAttribute_t
  layout: { batchCount: 0, batchStride: 1 },
  // hipblasLtMatmulPreferenceAttributes_t
  preference: { workspace: 1 },
  // hipblasLtMatmulHeuristicResult_t: an algorithm of 16 opaque bytes and the workspace that
  // it may take, the workspace that it takes, a status, waves and four reserved numbers.
  result: { bytes: 56, algoBytes: 24, workspace: 24, status: 32 },
};

/** As many as a search of cuBLASLt has with its splits of K, which are solutions here. */
const PROPOSALS = 96;

/**
 * Opens the library at `path`.
 *
 * @throws {Error} If there is no such library.
 */
function openHipblaslt(path: string): Hipblaslt {
  return openChecked(path, HIPBLASLT, {
    releasing: LT_RELEASING,
    failure: (status) => failureOf(HIPBLAS_NUMBERS, status),
  });
}

/** A library's handle, and its version. */
interface HipblasltHandle extends LtHandle {
  /** e.g. `0.12.0`. */
  readonly version: string;
}

/** Creates a handle whose work goes to `stream`. */
function createHipblaslt(
  library: Hipblaslt,
  stream: bigint,
): HipblasltHandle {
  const lt = createLt({
    library,
    numbers: NUMBERS,
    proposals: PROPOSALS,
    describe,
    algorithms: (_, proposals) => distinct(proposals.map(describe)),
    find: (_, proposals, values) =>
      proposals.find((algo) =>
        formatValues(describe(algo)) === formatValues(values)
      ),
  }, stream);
  const version = out32((to) => library.GetVersion(lt.handle, to));
  return { ...lt, version: formatVersion(version) };
}

/** The index of the solution is the first of the opaque bytes. */
function describe({ bytes }: Algo): Values {
  return { solution: new DataView(bytes.buffer).getInt32(0, true) };
}

/** Each once, the first first: the heuristic may rank a solution in two of its lists. */
function distinct(all: readonly Values[]): readonly Values[] {
  return [...new Map(all.map((one) => [formatValues(one), one])).values()];
}

/** Formats 1200 as `0.12.0`. */
function formatVersion(version: number): string {
  const [major, minor] = [1e5, 100].map((unit) => Math.floor(version / unit));
  return `${major}.${minor! % 1000}.${version % 100}`;
}
