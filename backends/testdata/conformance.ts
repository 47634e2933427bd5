/**
 * Tests that every backend must pass, as one table of cases.
 *
 * @module
 */

import { fileURLToPath } from "node:url";
import { deepStrictEqual, ok, strictEqual, throws } from "node:assert/strict";
import type { Device, Module } from "../../bench/device/device.ts";
import { f32, i32, i64, mem } from "../../bench/device/queue.ts";
import { CaseError } from "../../bench/model/errors.ts";
import { scratch } from "./mocks.ts";

/** The device and modules of a case. */
export interface BenchContext {
  readonly device: Device;
  /** The harness's own kernels. */
  readonly instruments: Module;
  /** `affine(y, x, a, n, add)`. */
  readonly kernels: Module;
}

const DEVICE = fileURLToPath(new URL("../../kernels/device/", import.meta.url));

/** Each API's file extension and kernel: y[i] = a * x[i] + add, for i below n. */
const KERNELS: Readonly<Record<string, readonly [string, string]>> = {
  cpu: [
    "c",
    `void affine(float *y, const float *x, float a, long long n, int add) {
  for (long long i = 0; i < n; i++) y[i] = a * x[i] + add;
}`,
  ],
  cuda: [
    "cu",
    `extern "C" __global__ void affine(float *y, const float *x, float a, long long n, int add) {
  for (long long i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
    y[i] = a * x[i] + add;
}`,
  ],
  hip: [
    "hip",
    `#include "${DEVICE}gfx.h"

KERNEL(256) void affine(float *y, const float *x, float a, long long n, int add) {
  const long long step = grid_x() * 128ll;
  for (long long i = block_x() * 128ll + thread_x(); i < n; i += step) y[i] = a * x[i] + add;
}`,
  ],
  metal: [
    "metal",
    `#include "${DEVICE}msl.h"

KERNEL(256) void affine(device float *y [[buffer(0)]], device const float *x [[buffer(1)]], constant float &a [[buffer(2)]],
                        constant long &n [[buffer(3)]], constant int &add [[buffer(4)]], WHERE) {
  const long step = blocks.x * 128l;
  for (long i = block.x * 128l + tid; i < n; i += step) y[i] = a * x[i] + add;
}`,
  ],
};

/** Returns the file of the kernels of a backend. */
export function kernelsOf(backend: string): URL {
  const [extension, text] = KERNELS[backend]!;
  const path = scratch(`conformance.${extension}`);
  Deno.writeTextFileSync(path, text);
  return new URL(`file://${path}`);
}

/** Something that every backend must do. */
export interface Case {
  readonly name: string;
  run(context: BenchContext): void;
}

const SHAPE = { grid: [4, 1, 1], block: [128, 1, 1] } as const;

function floats(bytes: Uint8Array<ArrayBuffer>): readonly number[] {
  return [
    ...new Float32Array(bytes.buffer, bytes.byteOffset, bytes.length / 4),
  ];
}

function bytesOf(values: readonly number[]): Uint8Array<ArrayBuffer> {
  return new Uint8Array(new Float32Array(values).buffer);
}

/** A step of the filler that keeps the device busy for longer with more `iterations`. */
function filler({ instruments, device }: BenchContext, iterations: number) {
  const sink = device.alloc(4);
  const args = [mem(sink), i32(iterations)];
  const step = instruments.program("filler").step(args, SHAPE);
  return { step, [Symbol.dispose]: () => sink[Symbol.dispose]() };
}

/** The table. */
export const CASES: readonly Case[] = [
  {
    name: "alloc() gives memory that returns what was uploaded",
    run({ device }) {
      using memory = device.alloc(1001);
      const sent = Uint8Array.from({ length: 1001 }, (_, i) => i % 251);
      memory.upload(sent);
      sent[0] = 99;
      const got = memory.download();
      strictEqual(memory.bytes, 1001);
      strictEqual(memory.address % 64n, 0n);
      deepStrictEqual([got.length, got[0], got[1000]], [1001, 0, 1000 % 251]);
      got[1] = 7;
      strictEqual(memory.download()[1], 1);
    },
  },
  {
    name: "alloc() of more than there is fails as oom with the bytes",
    run({ device }) {
      throws(() => device.alloc(2 ** 52), (error: unknown) => {
        ok(error instanceof CaseError);
        strictEqual(error.failure, "oom");
        ok(error.message.includes(`${2 ** 52} bytes`), error.message);
        return true;
      });
    },
  },
  {
    name: "upload() of a part leaves the rest",
    run({ device }) {
      using memory = device.alloc(8);
      memory.fill(5);
      memory.upload(new Uint8Array([1, 2]));
      deepStrictEqual([...memory.download()], [1, 2, 5, 5, 5, 5, 5, 5]);
    },
  },
  {
    name: "slice() shares its bytes with the whole",
    run({ device }) {
      using memory = device.alloc(64);
      memory.fill(0);
      const slice = memory.slice(16, 8);
      slice.slice(4, 4).fill(255);
      deepStrictEqual([...slice.download()], [0, 0, 0, 0, 255, 255, 255, 255]);
      deepStrictEqual([slice.bytes, slice.address], [8, memory.address + 16n]);
      slice[Symbol.dispose]();
      strictEqual(memory.download()[20], 255);
      throws(() => memory.slice(60, 5), RangeError);
    },
  },
  {
    name: "fill() keeps its place among launches",
    run({ device, kernels }) {
      using x = device.alloc(16);
      using y = device.alloc(16);
      x.upload(bytesOf([1, 2, 3, 4]));
      const args = [mem(y), mem(x), f32(1), i64(4), i32(1)];
      const step = kernels.program("affine").step(args, SHAPE);
      step.enqueue();
      x.fill(0);
      y.slice(8, 8).fill(0);
      deepStrictEqual(floats(y.download()), [2, 3, 0, 0]);
      step.enqueue();
      deepStrictEqual(floats(y.download()), [1, 1, 1, 1]);
    },
  },
  {
    name: "copyFrom() keeps its place among launches and leaves the rest",
    run({ device, kernels }) {
      using x = device.alloc(16);
      using y = device.alloc(16);
      using copy = device.alloc(24);
      copy.fill(0);
      x.upload(bytesOf([1, 2, 3, 4]));
      const args = [mem(y), mem(x), f32(1), i64(4), i32(1)];
      const step = kernels.program("affine").step(args, SHAPE);
      step.enqueue();
      copy.slice(4, 16).copyFrom(y.slice(4, 8));
      y.fill(0);
      deepStrictEqual(floats(copy.download()), [0, 3, 4, 0, 0, 0]);
      throws(() => copy.slice(20, 4).copyFrom(y), RangeError);
    },
  },
  {
    name: "step() passes its arguments, and as many times as it is queued",
    run({ device, kernels }) {
      const n = 1000;
      using y = device.alloc(4 * n);
      y.upload(bytesOf(Array.from({ length: n }, (_, i) => i)));
      const args = [mem(y), mem(y), f32(-0.5), i64(n), i32(-7)];
      const step = kernels.program("affine").step(args, SHAPE);
      strictEqual(step.label, "affine");
      step.enqueue();
      step.enqueue();
      device.synchronize();
      const expected = Array.from({ length: n }, (_, i) => i / 4 - 3.5);
      deepStrictEqual(floats(y.download()), expected);
    },
  },
  {
    name: "step() of a cooperative launch runs where it fits, else is refused",
    run({ device, kernels }) {
      const { clusters, sharedBytes, units } = device.info;
      // The blocks of a CPU are none.
      if (sharedBytes === 0) return;
      if (clusters) strictEqual(clusters[0], units);
      using y = device.alloc(16);
      using x = device.alloc(16);
      x.upload(bytesOf([1, 2, 3, 4]));
      const args = [mem(y), mem(x), f32(2), i64(4), i32(1)];
      const affine = (blocks: number) =>
        kernels.program("affine").step(args, {
          ...SHAPE,
          grid: [blocks, 1, 1],
          cooperative: true,
        });
      const refused = (error: unknown) =>
        error instanceof CaseError && error.failure === "unsupported";
      const step = (() => {
        try {
          return affine(units);
        } catch (error) {
          // Who tells how many clusters fit can launch them together.
          if (!clusters && refused(error)) return undefined;
          throw error;
        }
      })();
      if (!step) return;
      y.fill(0);
      step.enqueue();
      deepStrictEqual(floats(y.download()), [3, 5, 7, 9]);
      y.fill(0);
      using graph = device.capture!(step.enqueue);
      graph.launch();
      device.synchronize();
      deepStrictEqual(floats(y.download()), [3, 5, 7, 9]);
      throws(() => affine(33 * units), refused);
    },
  },
  {
    name: "program() without such an entry fails as launch",
    run({ kernels }) {
      throws(() => kernels.program("no_such_entry"), {
        failure: "launch",
        message: /no_such_entry/,
      });
    },
  },
  {
    name: "interval() is positive, and longer for more work",
    run(context) {
      using short = filler(context, 2_000);
      using long = filler(context, 200_000);
      const [a, b] = [context.device.interval(), context.device.interval()];
      short.step.enqueue();
      a.measure(() => short.step.enqueue());
      b.measure(() => long.step.enqueue());
      context.device.synchronize();
      const [brief, lengthy] = [a.nanoseconds(), b.nanoseconds()];
      ok(brief > 0, `${brief} ns`);
      ok(lengthy > 5 * brief, `${lengthy} ns against ${brief} ns`);
      a[Symbol.dispose]();
      b[Symbol.dispose]();
    },
  },
  {
    name: "capture(), where there is one, records now and runs later",
    run({ device, kernels }) {
      if (!device.capture) return;
      using x = device.alloc(4);
      using y = device.alloc(4);
      x.upload(bytesOf([3]));
      y.fill(0);
      const args = [mem(y), mem(x), f32(2), i64(1), i32(1)];
      const step = kernels.program("affine").step(args, SHAPE);
      ok(step.capturable);
      using graph = device.capture(() => {
        step.enqueue();
        x.fill(0);
      });
      deepStrictEqual(floats(y.download()), [0]);
      graph.launch();
      deepStrictEqual(floats(y.download()), [7]);
      graph.launch();
      deepStrictEqual(floats(y.download()), [1]);
    },
  },
  {
    name: "the instruments run and write nothing",
    run({ device, instruments }) {
      using sink = device.alloc(4);
      using data = device.alloc(100_003);
      sink.fill(0);
      data.fill(1);
      const read = [mem(data), i64(data.bytes), mem(sink)];
      const tiles = { grid: [7, 1, 1], block: [128, 1, 1] } as const;
      instruments.program("empty").step([], SHAPE).enqueue();
      instruments.program("read_flush").step(read, SHAPE).enqueue();
      instruments.program("load_only").step(read, tiles).enqueue();
      device.synchronize();
      deepStrictEqual([...sink.download()], [0, 0, 0, 0]);
      ok(data.download().every((byte) => byte === 1));
    },
  },
  {
    name: "telemetry(), where there is one, gives figures that can be",
    run({ device }) {
      const { sm_mhz = 1, temp_c = 1, power_w = 1 } = device.telemetry?.() ??
        {};
      ok(sm_mhz > 0 && sm_mhz < 1e4, `${sm_mhz} MHz`);
      ok(temp_c > 0 && temp_c < 150, `${temp_c} °C`);
      ok(power_w > 0 && power_w < 1e4, `${power_w} W`);
    },
  },
  {
    name: "gemm(), where there is a library, is fp32 and row-major",
    run({ device }) {
      const { blas } = device;
      if (!blas) return;
      // 1 + 2^-13 is no TF32 number: sums of it tell whether fp32 was kept.
      const fine = 1 + 2 ** -13;
      const put = (values: readonly number[]) => {
        const memory = device.alloc(4 * values.length);
        memory.upload(bytesOf(values));
        return { memory, type: "f32" } as const;
      };
      const [a, b] = [put([fine, 2, 3, 4, 5, 6]), put([1, 0, 0, 1, 0, 0])];
      const c = put([9, 9, 9, 9]);
      blas.gemm({
        m: 2,
        n: 2,
        k: 3,
        a: { ...a, ld: 3 },
        b: { ...b, ld: 2 },
        c: { ...c, ld: 2 },
      }).enqueue();
      deepStrictEqual(floats(c.memory.download()), [fine, 2, 4, 5]);
      for (const { memory } of [a, b, c]) memory[Symbol.dispose]();
    },
  },
];
