import { deepStrictEqual, match, strictEqual } from "node:assert/strict";
import { hip } from "./hip.ts";
import { parseBusId } from "./rocm_smi.ts";
import { cxxTest } from "../testdata/cxx.ts";
import { hipblasPath, hipControls, hipPath } from "../testdata/hip_mocks.ts";
import { blasTest, matrix, values } from "../testdata/hip_blas.ts";
import { failure } from "../testdata/mock_device.ts";
import { build } from "../testdata/mocks.ts";

for (const release of [2, 3] as const) {
  blasTest(
    `gemm() of hipBLAS ${release} multiplies row-major matrices`,
    release,
    (device, f32, mock) => {
      match(
        device.blas!.version,
        new RegExp(`^${release} hipblaslt 0\\.12\\.0$`),
      );
      const a = f32([1, 2, 3, 4, 5, 6, 1, 0, 0, 0, 1, 0]);
      const b = f32([1, 0, 0, 1, 1, 1, 2, 3, 4, 5, 6, 7]);
      const c = f32(new Array(8).fill(NaN));
      const gemm = {
        ...{ m: 2, n: 2, k: 3, batch: 2 },
        a: { ...matrix(a, 3), stride: 6 },
        b: { ...matrix(b, 2), stride: 6 },
        c: { ...matrix(c, 2), stride: 4 },
      };
      device.blas!.gemm(gemm).enqueue();
      deepStrictEqual(values(c), [4, 5, 10, 11, 2, 3, 4, 5]);
      // The same with B stored by columns, one matrix.
      const t = f32([1, 0, 1, 0, 1, 1]);
      const { batch: _, ...one } = gemm;
      device.blas!.gemm({ ...one, b: { ...matrix(t, 3), transposed: true } })
        .enqueue();
      deepStrictEqual(values(c).slice(0, 4), [4, 5, 10, 11]);
      mock.mock_blas_fail(7);
      const error = failure(() => device.blas!.gemm(one).enqueue());
      strictEqual(error.failure, "unsupported");
      match(error.message, /HIPBLAS_STATUS_NOT_SUPPORTED \(7\)$/);
    },
  );
}

cxxTest("blas is missing with a reason, or without fused products", () => {
  hipControls().reset();
  const open = (libraries: { hipblas: string[]; hipblaslt: string[] }) => {
    const backend = hip({ driver: [hipPath()], smi: [], ...libraries });
    return backend.open(backend.find().devices[0]!);
  };
  {
    using device = open({ hipblas: ["/none/libhipblas.so.2"], hipblaslt: [] });
    strictEqual(device.blas, undefined);
    strictEqual(
      device.blasReason,
      "No hipBLAS: tried /none/libhipblas.so.2; install ROCm's hipblas package",
    );
  }
  using device = open({
    hipblas: [hipblasPath(2)],
    hipblaslt: ["/none/lt.so"],
  });
  strictEqual(device.blas!.name, "hipblas");
  strictEqual(device.blas!.fused, undefined);
});

for (const old of [false, true]) {
  cxxTest(
    `telemetry() reads rocm-smi ${old ? "before ROCm 6" : "since ROCm 6"}`,
    () => {
      hipControls().reset();
      const smi = build(
        `librocm_smi64.so.${old ? 5 : 7}`,
        ["hip/rocm_smi.c"],
        [
          "-w",
          ...(old ? ["-DOLD_SMI"] : []),
        ],
      );
      const backend = hip({ driver: [hipPath()], smi: ["libnothing.so", smi] });
      using device = backend.open(backend.find().devices[0]!);
      deepStrictEqual(device.telemetry!(), {
        ...{ sm_mhz: 2100, mem_mhz: 1300, temp_c: 43 },
        power_w: old ? 123.456 : 456.789,
      });
    },
  );
}

Deno.test("parseBusId() numbers a place on the bus as rocm-smi does", () => {
  strictEqual(parseBusId("0000:c1:00.0"), 0xc100n);
  strictEqual(parseBusId("0001:03:1f.7"), 0x1000003ffn);
});
