import {
  deepStrictEqual,
  match,
  strictEqual,
  throws,
} from "node:assert/strict";
import type { Epilogue, FusedGemm, Matrix } from "../../bench/device/blas.ts";
import type { Device } from "../../bench/device/device.ts";
import type { Memory } from "../../bench/device/queue.ts";
import { hip } from "./hip.ts";
import { build, cxxTest } from "../testdata/mocks.ts";
import {
  hipblasltPath,
  hipblasPath,
  hipControls,
  hipPath,
} from "../testdata/hip_mocks.ts";
import { parseBusId } from "./rocm_smi.ts";
import { failure } from "../testdata/mock_device.ts";
import { formatValues } from "../../bench/model/grid.ts";

/** Runs `test` on a device with both libraries; looks that all was given back. */
function blasTest(
  name: string,
  release: 2 | 3,
  test: (
    device: Device,
    f32: (values: readonly number[]) => Memory,
    mock: { mock_blas_fail(status: number): void },
  ) => void,
): void {
  cxxTest(name, () => {
    hipControls().reset();
    const { symbols: mock } = Deno.dlopen(hipblasPath(release), {
      mock_blas_fail: { parameters: ["i32"], result: "void" },
      mock_blas_living: { parameters: [], result: "i32" },
      mock_blas_stream: { parameters: [], result: "u64" },
    });
    const { symbols: lt } = Deno.dlopen(hipblasltPath(), {
      mock_lt_living: { parameters: [], result: "i32" },
    });
    {
      const backend = hip({
        driver: [hipPath()],
        hipblas: [hipblasPath(release)],
        hipblaslt: [hipblasltPath()],
        smi: [],
      });
      using device = backend.open(backend.find().devices[0]!);
      using stack = new DisposableStack();
      test(device, (values) => {
        const memory = stack.use(device.alloc(4 * values.length));
        memory.upload(new Uint8Array(new Float32Array(values).buffer));
        return memory;
      }, mock);
      strictEqual(mock.mock_blas_stream() !== 0n, true);
    }
    strictEqual(mock.mock_blas_living() + lt.mock_lt_living(), 0);
  });
}

/** The fp32 values of `memory`. */
const values = (memory: Memory): readonly number[] => [
  ...new Float32Array(memory.download().buffer),
];

/** A matrix in fp32 with rows `ld` apart. */
const matrix = (memory: Memory, ld: number): Matrix => ({
  memory,
  type: "f32",
  ld,
});

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
        m: 2,
        n: 2,
        k: 3,
        batch: 2,
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
        sm_mhz: 2100,
        mem_mhz: 1300,
        temp_c: 43,
        power_w: old ? 123.456 : 456.789,
      });
    },
  );
}

Deno.test("parseBusId() numbers a place on the bus as rocm-smi does", () => {
  strictEqual(parseBusId("0000:c1:00.0"), 0xc100n);
  strictEqual(parseBusId("0001:03:1f.7"), 0x1000003ffn);
});

/** What solution 7003 of the mock needs for 2 x 2 outputs: four partial products in fp32. */
const SPLIT_BYTES = 4 * 2 * 2 * 4;

interface Made {
  readonly device: Device;
  readonly f32: (values: readonly number[]) => Memory;
}

/** Calls `use` with a 2 x 3 by 3 x 2 product, and `bytes` of workspace. */
function product(
  { device, f32 }: Made,
  bytes: number,
  use: (gemm: FusedGemm) => void,
): void {
  const [a, b] = [f32([1, 2, 3, -4, -5, -6]), f32([1, 0, 0, 1, 1, 1])];
  const [c, bias] = [f32(new Array(4).fill(NaN)), f32([10, 1])];
  using workspace = device.alloc(bytes);
  use({
    m: 2,
    n: 2,
    k: 3,
    epilogue: "none",
    bias,
    workspace,
    a: matrix(a, 3),
    b: matrix(b, 2),
    c: matrix(c, 2),
  });
}

const RIGHT: Readonly<Record<Epilogue, readonly number[]>> = {
  "none": [4, 5, -10, -11],
  "relu": [4, 5, 0, 0],
  "bias": [14, 6, 0, -10],
  "bias+relu": [14, 6, 0, 0],
};

blasTest(
  "fused() applies each epilogue, and names usable solutions alone",
  2,
  (device, f32) => {
    product({ device, f32 }, 4096, (gemm) => {
      const { fused } = device.blas!;
      for (const [epilogue, expected] of Object.entries(RIGHT)) {
        const asked = { ...gemm, epilogue: epilogue as Epilogue };
        deepStrictEqual(
          fused!(asked, 4).map(({ name }) => name),
          ["solution=7001", "solution=7003", "solution=7001"],
        );
        const [choice] = fused!(asked, 1);
        choice!.step.enqueue();
        deepStrictEqual(values(gemm.c.memory), expected, epilogue);
      }
      const wide = f32(new Array(26).fill(1));
      const none = { ...gemm, k: 13, a: matrix(wide, 13), b: matrix(wide, 2) };
      match(
        failure(() => fused!(none, 4)).message,
        /^hipBLASLt proposes no algorithm for 2x2x13/,
      );
    });
  },
);

blasTest(
  "algorithms() are the supported solutions that fit the workspace, each once",
  3,
  (device, f32) => {
    const texts = (bytes: number) => {
      let found: readonly string[] = [];
      product({ device, f32 }, bytes, (gemm) => {
        found = device.blas!.algorithms!(gemm).map(formatValues);
      });
      return found;
    };
    deepStrictEqual(texts(SPLIT_BYTES), [
      "solution=7001",
      "solution=7003",
      "solution=7005",
    ]);
    deepStrictEqual(texts(SPLIT_BYTES - 1), ["solution=7001", "solution=7005"]);
  },
);

blasTest(
  "fusedBy() computes the product by each solution, with each epilogue",
  2,
  (device, f32) => {
    product({ device, f32 }, SPLIT_BYTES, (gemm) => {
      const { algorithms, fusedBy } = device.blas!;
      for (const [epilogue, expected] of Object.entries(RIGHT)) {
        const asked = { ...gemm, epilogue: epilogue as Epilogue };
        for (const algorithm of algorithms!(asked)) {
          const { name, step, workspaceBytes } = fusedBy!(asked, algorithm);
          strictEqual(name, formatValues(algorithm));
          strictEqual(
            workspaceBytes,
            name === "solution=7003" ? SPLIT_BYTES : 0,
          );
          gemm.c.memory.fill(0xff);
          step.enqueue();
          deepStrictEqual(
            values(gemm.c.memory),
            expected,
            `${name} ${epilogue}`,
          );
        }
      }
    });
  },
);

blasTest(
  "fusedBy() is unsupported for a solution that is not there, or too large",
  2,
  (device, f32) => {
    product({ device, f32 }, SPLIT_BYTES - 1, (gemm) => {
      for (const solution of [7000, 7002, 7003]) {
        throws(() => device.blas!.fusedBy!(gemm, { solution }), {
          failure: "unsupported",
          message:
            `hipBLASLt has no algorithm solution=${solution} for 2x2x3 in f32 with epilogue none: search again`,
        });
      }
    });
  },
);
