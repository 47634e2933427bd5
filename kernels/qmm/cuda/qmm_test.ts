import { deepStrictEqual, ok, strictEqual, throws } from "node:assert/strict";
import type { Device } from "../../../bench/device/device.ts";
import type { Arg, LaunchShape, Memory } from "../../../bench/device/queue.ts";
import type { Values } from "../../../bench/model/grid.ts";
import type { Kernel } from "../../../bench/model/kernel_spec.ts";
import { qmmSplitK } from "./qmm.ts";
import { qmv } from "./qmv.ts";
import { cudaKernels } from "./cuda.ts";
import { qmm } from "../op.ts";
import type { QmmPoint } from "../point.ts";
import { h200 } from "../../testdata/devices.ts";

/** What a kernel would launch, on a device that only listens. */
function launch(
  kernel: Kernel<QmmPoint>,
  { values, config, offset = 0n }: {
    values: Values;
    config: Values;
    offset?: bigint;
  },
): { entry: string; args: readonly Arg[]; shape: LaunchShape } {
  const never = (): never => {
    throw new Error("prepare() touches no bytes");
  };
  const memory = (at: bigint): Memory => ({
    bytes: 0,
    address: (at << 32n) + offset,
    upload: never,
    download: never,
    fill: never,
    slice: never,
    [Symbol.dispose]: never,
  });
  const device: Device = {
    info: h200,
    alloc: never,
    load: never,
    interval: never,
    synchronize: never,
    [Symbol.dispose]: never,
  };
  const point = qmm.point(values);
  const found: { entry: string; args: readonly Arg[]; shape: LaunchShape }[] =
    [];
  const operands = Object.fromEntries(
    qmm.operands(point).map(({ name }, i) => [name, memory(BigInt(i + 1))]),
  );
  kernel.prepare({
    point,
    config,
    device,
    operands,
    alloc: never,
    program: (_, entry) => ({
      step(args, shape) {
        found.push({ entry, args, shape });
        return { label: entry, capturable: true, enqueue: never };
      },
    }),
  });
  strictEqual(found.length, 1);
  return found[0]!;
}

const numbers = (args: readonly Arg[]) =>
  args.flatMap((arg) => arg.kind === "i32" ? [arg.value] : []);

const TILE = { BM: 16, RT: 2, WN: 2, WK: 4, KS: 128, STAGES: 2, CLUSTER: 3 };

Deno.test("cudaKernels are in the order of listings", () => {
  deepStrictEqual(cudaKernels.map(({ name }) => name), [
    "cublas",
    "dequant-cublas",
    "qmv",
    "qmm",
    "qmm-splitk",
  ]);
});

Deno.test("prepare() of qmm-splitk cuts K into slices of whole steps", () => {
  const values = { m: 20, n: 100, k: 2560 };
  const { entry, args, shape } = launch(qmmSplitK, { values, config: TILE });
  strictEqual(entry, "qmm");
  // M, N, K, 7 of the 20 steps to each block but the last, rows of 1280 bytes.
  deepStrictEqual(numbers(args), [20, 100, 2560, 7 * 128, 1]);
  deepStrictEqual(shape.grid, [3, 2, 2]);
  deepStrictEqual(shape.block, [256, 1, 1]);
  strictEqual(shape.cluster, 3);
});

Deno.test("prepare() tells of rows of weights that start on no 16 bytes", () => {
  const wide = (values: Values, offset = 0n) =>
    numbers(launch(qmmSplitK, { values, config: TILE, offset }).args)[4];
  strictEqual(wide({ m: 1, n: 64, k: 1024 }), 1);
  strictEqual(wide({ m: 1, n: 64, k: 1056, bits: 3, group: 32 }), 0);
  throws(
    () => wide({ m: 1, n: 64, k: 1024 }, 2n),
    /x starts at no multiple of 16 bytes/,
  );
});

Deno.test("prepare() of mode mxfp4 passes memory in the place of biases", () => {
  const values = { m: 1, n: 64, k: 1024, mode: "mxfp4" };
  const { args } = launch(qmmSplitK, { values, config: TILE });
  const [, , scales, biases] = args;
  deepStrictEqual(biases, scales);
});

Deno.test("prepare() of qmv takes the entry of the weights' orientation", () => {
  const config = { ROWS: 4, COLS: 64, THREADS: 128, UNROLL: 2, CLUSTER: 2 };
  const values = { m: 5, n: 192, k: 300, layout: "nn" };
  const { entry, args, shape } = launch(qmv, { values, config });
  strictEqual(entry, "qvm");
  deepStrictEqual(numbers(args), [5, 192, 300]);
  deepStrictEqual(shape.grid, [2, 3, 2]);
  const turned = launch(qmv, {
    values: { ...values, k: 320, layout: "nt" },
    config: { ...config, COLS: 8, UNROLL: 1 },
  });
  strictEqual(turned.entry, "qmv");
  deepStrictEqual(turned.shape.grid, [2, 24, 2]);
});

Deno.test("candidates() of qmv leave some config at every edge-case shape of few tokens", () => {
  for (const odd of qmm.edgeCases) {
    const legal = [...qmv.candidates(odd, h200)]
      .filter(({ illegal }) => illegal === undefined);
    ok(legal.length > 0, JSON.stringify(odd));
  }
  ok(qmv.unsupported(qmm.point({ m: 65, n: 64, k: 64 }), h200));
});
