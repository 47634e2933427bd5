import { deepEqual, equal, ok, throws } from "node:assert/strict";
import type { Matrix } from "../../bench/device/blas.ts";
import type { Device } from "../../bench/device/device.ts";
import { decode, type DType, encode } from "../../bench/model/dtype.ts";
import { CaseError } from "../../bench/model/errors.ts";
import { cpu } from "./cpu.ts";
import { openBlas } from "./openblas.ts";
import { cpuSystem } from "./system.ts";

const { openblas: LIBRARIES } = cpuSystem();

const info = cpu.find().devices[0]!;
const found = openBlas(LIBRARIES, info.units);
const skip = found.blas ? "" : ` (ignored: ${found.reason})`;
const needsLibrary = { ignore: !found.blas };

function matrix(
  device: Device,
  values: number[],
  rest: Partial<Matrix> & { ld: number; type?: DType },
): Matrix {
  const type = rest.type ?? "f32";
  const bytes = encode(values, type);
  const memory = device.alloc(bytes.length);
  memory.upload(bytes);
  return { memory, type, ...rest };
}

Deno.test("openBlas() says what it tried", () => {
  const { blas, reason } = openBlas(["libnothing.so", "/nowhere/libno.so"], 1);
  equal(blas, undefined);
  ok(
    /^No OpenBLAS: .* install .*; tried libnothing\.so, \/nowhere\/libno\.so$/
      .test(reason),
    reason,
  );
});

Deno.test("openBlas() says why a library that is there does not load", async () => {
  const file = await Deno.makeTempFile();
  try {
    await Deno.writeTextFile(file, "not a library");
    const { reason } = openBlas([file], 1);
    ok(reason.includes(`${file} (`), reason);
  } finally {
    await Deno.remove(file);
  }
});

Deno.test(
  `openBlas() sets the threads and tells its version${skip}`,
  needsLibrary,
  () => {
    const { blas } = openBlas(LIBRARIES, 1);
    equal(blas?.name, "openblas");
    equal(blas?.threads, 1);
    ok(/^\d+\.\d+/.test(blas?.version ?? ""), blas?.version);
    equal(openBlas(LIBRARIES, info.units).blas?.threads, info.units);
  },
);

Deno.test(
  `gemm() multiplies row-major, leading dimensions apart${skip}`,
  needsLibrary,
  () => {
    using device = cpu.open(info);
    // [1 2; 3 4] · [5 6 7; 8 9 10]
    const c = matrix(device, [0, 0, 0, -1, 0, 0, 0, -1], { ld: 4 });
    found.blas!.gemm({
      m: 2,
      n: 3,
      k: 2,
      a: matrix(device, [1, 2, -1, 3, 4, -1], { ld: 3 }),
      b: matrix(device, [5, 6, 7, 8, 9, 10], { ld: 3 }),
      c,
    }).enqueue();
    deepEqual([...decode(c.memory.download(), "f32")], [
      ...[21, 24, 27, -1],
      ...[47, 54, 61, -1],
    ]);
  },
);

Deno.test(
  `gemm() transposes, and strides over a batch${skip}`,
  needsLibrary,
  () => {
    using device = cpu.open(info);
    const c = matrix(device, [0, 0, 0, 0], { ld: 2, stride: 2 });
    found.blas!.gemm({
      m: 1,
      n: 2,
      k: 2,
      batch: 2,
      a: matrix(device, [1, 2, 10, 20], { ld: 2, stride: 2 }),
      // Stored [N,K] = [3 4; 5 6], the same for both.
      b: matrix(device, [3, 4, 5, 6], { ld: 2, transposed: true }),
      c,
    }).enqueue();
    deepEqual([...decode(c.memory.download(), "f32")], [11, 17, 110, 170]);
  },
);

Deno.test(
  `gemm() refuses types that it cannot multiply${skip}`,
  needsLibrary,
  () => {
    using device = cpu.open(info);
    const f16 = matrix(device, [1], { ld: 1, type: "f16" });
    throws(
      () => found.blas!.gemm({ m: 1, n: 1, k: 1, a: f16, b: f16, c: f16 }),
      (error) =>
        error instanceof CaseError && error.failure === "unsupported" &&
        /f16/.test(error.message),
    );
  },
);

Deno.test(
  `gemm() of bf16 is right, or unsupported with the reason${skip}`,
  needsLibrary,
  () => {
    using device = cpu.open(info);
    const c = matrix(device, [0], { ld: 1 });
    const [a, b] = [[1, 2], [3, 4]].map((x) =>
      matrix(device, x, { ld: 2, type: "bf16" })
    );
    const product = () =>
      found.blas!.gemm({
        m: 1,
        n: 1,
        k: 2,
        a: a!,
        b: { ...b!, transposed: true },
        c,
      });
    let step;
    try {
      step = product();
    } catch (error) {
      ok(error instanceof CaseError && error.failure === "unsupported");
      ok(/without cblas_sbgemm/.test(error.message), error.message);
      return;
    }
    step.enqueue();
    deepEqual([...decode(c.memory.download(), "f32")], [11]);
  },
);
