/**
 * AMD's matrix library with epilogues and a list of algorithms to choose from.
 *
 * Called as cuBLASLt is: a row-major C[m,n] is asked for as a column-major Cᵀ[n,m], so the
 * library's bias (one value a row) is a bias of n values here.
 *
 * @module
 */

import type { FusedChoice, FusedGemm, Matrix } from "../bench/blas.ts";
import { CaseError } from "../bench/errors.ts";
import { checkTypes, hostOne, hostZero, typeOf } from "./cublas_values.ts";
import { addressOf, out32, out64 } from "./ffi.ts";
import { HIP_COMPUTE_32F, hipOperationOf } from "./hipblas.ts";
import {
  DESC,
  EPILOGUE,
  type Hipblaslt,
  LAYOUT,
  PREFERENCE,
  RESULT,
} from "./hipblaslt_library.ts";

/** `HIP_R_32F`, of alpha and beta. */
const SCALE_TYPE = 0;

/** A library's handle, bound to one stream. Descriptors of its steps live as long. */
export interface HipblasltHandle extends Disposable {
  readonly version: string;
  fused(gemm: FusedGemm, limit: number): readonly FusedChoice[];
}

/** Creates a handle whose work goes to `stream`. */
export function createHipblaslt(
  library: Hipblaslt,
  stream: bigint,
): HipblasltHandle {
  const handle = out64((to) => library.hipblasLtCreate(to));
  const version = out32((to) => library.hipblasLtGetVersion(handle, to));
  const releases: (() => void)[] = [];
  return {
    version: `${Math.floor(version / 1e5)}.${
      Math.floor(version / 100) % 1000
    }.${version % 100}`,
    fused: (gemm, limit) =>
      fused(
        { library, handle, stream, own: (r) => releases.push(r) },
        gemm,
        limit,
      ),
    [Symbol.dispose]() {
      for (const release of releases.reverse()) release();
      library.hipblasLtDestroy(handle);
    },
  };
}

interface Site {
  readonly library: Hipblaslt;
  readonly handle: bigint;
  readonly stream: bigint;
  own(release: () => void): void;
}

function fused(
  { library, handle, stream, own }: Site,
  gemm: FusedGemm,
  limit: number,
): readonly FusedChoice[] {
  checkTypes("hipBLASLt", gemm);
  const { m, n, k, a, b, c, epilogue, workspace, batch = 1 } = gemm;
  const desc = out64((to) =>
    library.hipblasLtMatmulDescCreate(to, HIP_COMPUTE_32F, SCALE_TYPE)
  );
  own(() => library.hipblasLtMatmulDescDestroy(desc));
  const set = (attribute: number, value: number) =>
    library.hipblasLtMatmulDescSetAttribute(
      desc,
      attribute,
      new Int32Array([value]),
      4n,
    );
  set(DESC.transA, hipOperationOf(b));
  set(DESC.transB, hipOperationOf(a));
  set(DESC.epilogue, EPILOGUE[epilogue]);
  if (epilogue.startsWith("bias")) {
    if (!gemm.bias) {
      throw new TypeError(
        `Cannot fuse the epilogue ${epilogue}: no bias was given`,
      );
    }
    const at = new BigUint64Array([gemm.bias.address]);
    library.hipblasLtMatmulDescSetAttribute(desc, DESC.biasPointer, at, 8n);
    set(DESC.biasType, typeOf(c));
  }
  const layout = (matrix: Matrix, rows: number, cols: number): bigint => {
    // A row here is a column there.
    const made = out64((to) =>
      library.hipblasLtMatrixLayoutCreate(
        to,
        typeOf(matrix),
        BigInt(cols),
        BigInt(rows),
        BigInt(matrix.ld),
      )
    );
    own(() => library.hipblasLtMatrixLayoutDestroy(made));
    if (batch > 1) {
      const { batchCount, batchStride } = LAYOUT;
      const count = new Int32Array([batch]);
      const stride = new BigInt64Array([BigInt(matrix.stride ?? 0)]);
      library.hipblasLtMatrixLayoutSetAttribute(made, batchCount, count, 4n);
      library.hipblasLtMatrixLayoutSetAttribute(made, batchStride, stride, 8n);
    }
    return made;
  };
  const first = b.transposed ? layout(b, n, k) : layout(b, k, n);
  const second = a.transposed ? layout(a, k, m) : layout(a, m, k);
  const output = layout(c, m, n);

  const preference = out64((to) => library.hipblasLtMatmulPreferenceCreate(to));
  own(() => library.hipblasLtMatmulPreferenceDestroy(preference));
  const room = new BigUint64Array([BigInt(workspace?.bytes ?? 0)]);
  library.hipblasLtMatmulPreferenceSetAttribute(
    preference,
    PREFERENCE.workspace,
    room,
    8n,
  );
  const results = new Uint8Array(RESULT.bytes * limit);
  const count = out32((to) =>
    library.hipblasLtMatmulAlgoGetHeuristic(
      ...[handle, desc, first, second, output, output] as const,
      ...[preference, limit, results, to] as const,
    )
  );
  const view = new DataView(results.buffer);
  const starts = Array.from({ length: count }, (_, i) => i * RESULT.bytes)
    .filter((at) => view.getInt32(at + RESULT.status, true) === 0);
  if (starts.length === 0) {
    throw new CaseError(
      "unsupported",
      `hipBLASLt proposes no algorithm for ${m}x${n}x${k} in ${a.type} with epilogue ${epilogue}`,
    );
  }
  const [one, zero] = [hostOne(), hostZero()];
  return starts.map((start): FusedChoice => {
    // The closure holds it: the library reads the algorithm at each call.
    const algo = results.slice(start, start + RESULT.algoBytes);
    const bytes = view.getBigUint64(start + RESULT.workspace, true);
    return {
      // The index of the solution is the first of the opaque bytes.
      name: `solution=${new DataView(algo.buffer).getInt32(0, true)}`,
      workspaceBytes: Number(bytes),
      step: {
        label: "hipblasLtMatmul",
        capturable: true,
        // deno-fmt-ignore: one operand a line, as in the library's table
        enqueue: () =>
          library.hipblasLtMatmul(
            handle, desc, one,
            b.memory.address, first,
            a.memory.address, second, zero,
            c.memory.address, output,
            c.memory.address, output,
            addressOf(algo.buffer), workspace?.address ?? 0n, bytes,
            stream,
          ),
      },
    };
  });
}
