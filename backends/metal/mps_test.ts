import { assertEquals, assertMatch, assertStrictEquals } from "@std/assert";
import { metal } from "./metal.ts";
import { compileMetal, metalPath, metalTest } from "../testdata/metal_mocks.ts";
import { failure } from "../testdata/mock_device.ts";
import { cxxTest } from "../testdata/mocks.ts";
import type { Matrix } from "../../bench/device/blas.ts";
import type { Device } from "../../bench/device/device.ts";
import { mem, type Memory } from "../../bench/device/queue.ts";
import { decode, encode } from "../../bench/model/dtype.ts";

type Type = "f16" | "f32";

/** Memory of `values`, behind bytes of another matrix. */
function put(
  device: Device,
  stack: DisposableStack,
  { type, values }: { type: Type; values: readonly number[] },
): Memory {
  const bytes = encode(Float64Array.from(values), type);
  const memory = stack.use(device.alloc(bytes.length + 16)).slice(
    16,
    bytes.length,
  );
  memory.upload(bytes);
  return memory;
}

/** Row `row` of op(A), column `column` of op(B) of a matrix of counting numbers. */
function at({ ld, transposed }: Matrix, row: number, column: number): number {
  return (transposed ? column * ld + row : row * ld + column) % 13 - 6;
}

for (const type of ["f16", "f32"] as const) {
  for (const [left, right] of [[false, true], [true, false]] as const) {
    metalTest(
      `gemm() of MPS is row-major in ${type}, operands transposed: ${left}, ${right}`,
      (device) => {
        using stack = new DisposableStack();
        const [m, n, k] = [3, 5, 7];
        const counting = (count: number) =>
          Array.from({ length: count }, (_, i) => i % 13 - 6);
        const [a, b, c] = [
          { rows: left ? k : m, ld: 9, transposed: left },
          { rows: right ? n : k, ld: 8, transposed: right },
          { rows: m, ld: 6, transposed: false },
        ].map(({ rows, ...matrix }) => {
          const values = counting(rows * matrix.ld);
          return {
            ...matrix,
            type,
            memory: put(device, stack, { type, values }),
          };
        }) as [Matrix, Matrix, Matrix];
        device.blas!.gemm({ m, n, k, a, b, c }).enqueue();
        const got = decode(c.memory.download(), type);
        for (let i = 0; i < m; i++) {
          for (let j = 0; j < n; j++) {
            let sum = 0;
            for (let p = 0; p < k; p++) sum += at(a, i, p) * at(b, p, j);
            assertStrictEquals(got[i * 6 + j], sum, `${i} ${j}`);
          }
          // What is beyond a row of C stays.
          assertStrictEquals(got[i * 6 + 5], at(c, i, 5));
        }
      },
    );
  }
}

metalTest("gemm() of MPS multiplies a batch at strides", (device) => {
  using stack = new DisposableStack();
  const matrix = (values: readonly number[], stride: number) => ({
    type: "f32" as const,
    ld: 1,
    stride,
    memory: put(device, stack, { type: "f32", values }),
  });
  const c = matrix([0, 0, 0], 1);
  device.blas!.gemm({
    m: 1,
    n: 1,
    k: 1,
    batch: 3,
    a: matrix([1, 2, 3], 1),
    b: matrix([4], 0),
    c,
  }).enqueue();
  assertEquals([...decode(c.memory.download(), "f32")], [4, 8, 12]);
});

metalTest(
  "gemm() of MPS stands between dispatches of one command buffer",
  async (device, mock) => {
    const binary = await compileMetal(
      `KERNEL(32) void twice(device float* p [[buffer(0)]], WHERE) { if (tid == 0) p[0] = p[0] * 2; }`,
    );
    using stack = new DisposableStack();
    using module = device.load(binary);
    const [a, c] = [[3], [0]].map((values) => ({
      type: "f32" as const,
      ld: 1,
      memory: put(device, stack, { type: "f32", values }),
    }));
    const twice = (memory: Memory) =>
      module.program("twice").step([mem(memory)], {
        grid: [1, 1, 1],
        block: [32, 1, 1],
      });
    const gemm = device.blas!.gemm({ m: 1, n: 1, k: 1, a: a!, b: a!, c: c! });
    using interval = device.interval();
    const before = mock.calls("commit");
    interval.measure(() => {
      twice(a!.memory).enqueue();
      gemm.enqueue();
      twice(c!.memory).enqueue();
    });
    device.synchronize();
    assertStrictEquals(mock.calls("commit"), before + 1);
    // Three steps of 10 us.
    assertStrictEquals(interval.nanoseconds(), 30_000);
    assertEquals([...decode(c!.memory.download(), "f32")], [72]);
  },
);

metalTest(
  "gemm() of MPS keeps no memory of operands, and one product of a shape",
  (device, mock) => {
    const before = mock.living();
    {
      using stack = new DisposableStack();
      const memory = put(device, stack, { type: "f32", values: [2] });
      const one = { type: "f32" as const, ld: 1, memory };
      for (let i = 0; i < 3; i++) {
        device.blas!.gemm({ m: 1, n: 1, k: 1, a: one, b: one, c: one })
          .enqueue();
      }
      device.synchronize();
    }
    assertStrictEquals(mock.living(), before + 1);
  },
);

metalTest("gemm() of MPS refuses bf16 and mixed types", (device) => {
  using memory = device.alloc(16);
  const of = (type: Matrix["type"]) => ({ memory, type, ld: 1 });
  const refused = (a: Matrix["type"], c: Matrix["type"]) => {
    const error = failure(() =>
      device.blas!.gemm({ m: 1, n: 1, k: 1, a: of(a), b: of(a), c: of(c) })
    );
    assertStrictEquals(error.failure, "unsupported");
    return error.message;
  };
  assertStrictEquals(
    refused("bf16", "bf16"),
    "MPSMatrixMultiplication multiplies f16 or f32 into the same type, not bf16 by bf16 into bf16",
  );
  assertMatch(refused("f16", "f32"), /not f16 by f16 into f32/);
});

cxxTest("open() says why there is no MPS", () => {
  const library = [metalPath()];
  const options = { objc: library, metal: library, mps: ["libnothing.dylib"] };
  const backend = metal(options);
  using device = backend.open(backend.find().devices[0]!);
  assertStrictEquals(device.blas, undefined);
  assertMatch(
    device.blasReason!,
    /^No Metal Performance Shaders: tried libnothing\.dylib/,
  );
});
