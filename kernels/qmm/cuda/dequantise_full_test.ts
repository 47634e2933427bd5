import { deepStrictEqual } from "node:assert/strict";
import { cudaTest } from "../../../backends/testdata/cuda_mocks.ts";
import type { Device } from "../../../bench/device/device.ts";
import { BYTES, decode, encode } from "../../../bench/model/dtype.ts";
import {
  formatName,
  quantFormat,
} from "../../../bench/formats/quant_format.ts";
import { dequantise, quantise } from "../../../bench/formats/quantise.ts";
import { values } from "../../../bench/model/inputs.ts";
import { elementsOf } from "../../../bench/model/problem.ts";
import { binaryOf } from "../../testdata/emulated.ts";
import {
  conversionBuild,
  dequantiseStep,
  quantiseStep,
} from "../dequantise.ts";
import { qmm } from "../op.ts";
import type { QmmPoint } from "../point.ts";

const [ROWS, COLS] = [40, 384];

/** The memory of the stored weights and of the 16-bit ones, and both steps. */
async function open(
  { device, stack }: {
    device: Device;
    stack: DisposableStack;
  },
  point: QmmPoint,
) {
  const alloc = (bytes: number) => {
    const memory = stack.use(device.alloc(bytes));
    memory.fill(0xff);
    return memory;
  };
  const stored = qmm.operands(point).slice(1, -1);
  const operands = Object.fromEntries(
    stored.map((o) => [o.name, alloc(elementsOf(o) * BYTES[o.type])]),
  );
  const dense = alloc(2 * ROWS * COLS);
  const build = conversionBuild("cuda", point);
  const module = stack.use(device.load(await binaryOf(build, "cuda")));
  const program = (_: unknown, entry: string) => module.program(entry);
  const conversion = { point, operands, dense, program };
  return {
    stored: stored.map(({ name }) => operands[name]!),
    dense,
    quantise: quantiseStep("cuda", conversion),
    dequantise: dequantiseStep("cuda", conversion),
  };
}

/** 16-bit weights: rows of neighbours from all over the type, NaN among them; or normal ones. */
function weightsOf(type: "f16" | "bf16", every: boolean): Uint8Array {
  if (!every) {
    return encode(
      values({ seed: 11, fill: "normal" }, 0, ROWS * COLS)
        .map((x, i) => x * 2 ** (Math.floor(i / 128) % 30 - 15)),
      type,
    );
  }
  const row = (i: number) => Math.floor(i / COLS) * 1637 + i % COLS;
  const codes = Uint16Array.from({ length: ROWS * COLS }, (_, i) => row(i));
  return new Uint8Array(codes.buffer);
}

/** `count` bytes in which every value comes, at every phase of an odd step. */
const bytes = (count: number, step: number) =>
  Uint8Array.from({ length: count }, (_, i) => i * step + (i >> 8));

const FORMATS = [
  ["bf16", { mode: "affine", bits: 3, group: 64 }],
  ["f16", { mode: "affine", bits: 4, group: 128 }],
  ["bf16", { mode: "affine", bits: 8, group: 32 }],
  ["f16", { mode: "mxfp4" }],
  ["bf16", { mode: "mxfp8" }],
  ["f16", { mode: "nvfp4" }],
] as const;

for (const [type, wish] of FORMATS) {
  const format = quantFormat(wish);
  cudaTest(
    `quantiseStep() and dequantiseStep() give the host's bits on the emulator, ${
      formatName(format)
    } ${type}`,
    async (device) => {
      using stack = new DisposableStack();
      const point = qmm.point({ ...format, m: 1, n: ROWS, k: COLS, type });
      const on = await open({ device, stack }, point);
      const parts = () => on.stored.map((memory) => memory.download());
      for (const every of [true, false]) {
        const w = new Uint8Array(weightsOf(type, every));
        on.dense.upload(w);
        on.quantise.enqueue();
        device.synchronize();
        const want = quantise(Float32Array.from(decode(w, type)), format, type);
        deepStrictEqual(
          parts(),
          [want.packed, want.scales, want.biases].filter((part) => part),
        );
      }
      // Any byte is a code. Every byte is a scale; 16-bit ones are of every exponent.
      const steps = [40503, format.mode === "affine" ? 25717 : 1, 30011];
      on.stored.forEach((memory, i) =>
        memory.upload(bytes(memory.bytes, steps[i]!))
      );
      on.dequantise.enqueue();
      device.synchronize();
      const [packed, scales, biases] = parts();
      const stored = { packed: packed!, scales: scales! };
      const want = dequantise(
        biases ? { ...stored, biases } : stored,
        format,
        { type, count: ROWS * COLS },
      );
      deepStrictEqual(on.dense.download(), encode(want, type));
    },
  );
}
