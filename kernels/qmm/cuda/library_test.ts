import { deepStrictEqual, strictEqual, throws } from "node:assert/strict";
import type { Gemm } from "../../../bench/device/blas.ts";
import type { Build, Device } from "../../../bench/device/device.ts";
import type { Arg, Memory, Step } from "../../../bench/device/queue.ts";
import { CaseError } from "../../../bench/model/errors.ts";
import type { Values } from "../../../bench/model/grid.ts";
import { cublas, dequantCublas } from "./cuda.ts";
import { qmm } from "../op.ts";

/** What a kernel would queue at `values`, on a device that only listens. */
function listen(kernel: typeof cublas, values: Values, withBlas = true) {
  const point = qmm.point(values);
  const gemms: Gemm[] = [];
  const launches: { build: Build; entry: string; args: readonly Arg[] }[] = [];
  const allocated: number[] = [];
  const memory = (bytes: number) => ({ bytes }) as unknown as Memory;
  const step = (label: string): Step => ({
    label,
    capturable: true,
    enqueue() {},
  });
  const blas = {
    name: "cublas",
    version: "13",
    gemm(gemm: Gemm) {
      gemms.push(gemm);
      return step("gemm");
    },
  };
  const operands = Object.fromEntries(
    qmm.operands(point).map(({ name }) => [name, memory(0)]),
  );
  const plan = kernel.prepare({
    point,
    config: {},
    device: { blas: withBlas ? blas : undefined } as unknown as Device,
    operands,
    program: (build, entry) => ({
      step(args) {
        launches.push({ build, entry, args });
        return step(entry);
      },
    }),
    alloc(bytes) {
      allocated.push(bytes);
      return memory(bytes);
    },
  });
  return { plan, operands, gemms, launches, allocated };
}

const labels = (steps: readonly Step[] = []) => steps.map(({ label }) => label);

Deno.test("cublas decodes before the clock starts, and multiplies on it", () => {
  const { plan, operands, gemms, launches, allocated } = listen(cublas, {
    m: 4,
    n: 96,
    k: 128,
  });
  deepStrictEqual([labels(plan.setup), labels(plan.steps)], [
    ["dequantise"],
    ["gemm"],
  ]);
  deepStrictEqual(allocated, [2 * 96 * 128]);
  const [{ m, n, k, a, b, c }] = gemms as [Gemm];
  deepStrictEqual([m, n, k, a.ld, b.ld, b.transposed, c.ld], [
    ...[4, 96, 128, 128, 128, true, 96],
  ]);
  strictEqual(a.memory, operands.x);
  strictEqual(c.memory, operands.y);
  // (w, scales, biases, to, count, group)
  deepStrictEqual(
    launches[0]!.args.map((x) => "value" in x ? x.value : x.kind),
    ["memory", "memory", "memory", "memory", 96 * 128, 64],
  );
  deepStrictEqual(cublas.builds(qmm.point({ m, n, k }), {}), [
    launches[0]!.build,
  ]);
});

Deno.test("cublas of x · W has W's rows along K", () => {
  const { gemms: [gemm] } = listen(cublas, {
    m: 4,
    n: 96,
    k: 50,
    mode: "mxfp4",
    layout: "nn",
  });
  deepStrictEqual([gemm!.b.ld, gemm!.b.transposed], [96, false]);
});

Deno.test("dequantCublas does both on the clock", () => {
  const { plan } = listen(dequantCublas, { m: 4, n: 96, k: 128 });
  deepStrictEqual(labels(plan.setup), []);
  deepStrictEqual(labels(plan.steps), ["dequantise", "gemm"]);
});

Deno.test("cublas without the library is unsupported", () => {
  throws(
    () => listen(cublas, { m: 4, n: 96, k: 128 }, false),
    new CaseError("unsupported", "the device has no matrix library"),
  );
});
