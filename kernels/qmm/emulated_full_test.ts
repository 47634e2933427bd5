import { assert, assertEquals, assertStrictEquals } from "@std/assert";
import { cudaTest } from "../../backends/testdata/cuda_mocks.ts";
import { metalTest } from "../../backends/testdata/metal_mocks.ts";
import type { Device } from "../../bench/device/device.ts";
import { formatName, quantFormat } from "../../bench/formats/quant_format.ts";
import { dequantise, quantise } from "../../bench/formats/quantise.ts";
import { decode, encode } from "../../bench/model/dtype.ts";
import { formatValues, type Values } from "../../bench/model/grid.ts";
import { values } from "../../bench/model/inputs.ts";
import type { Op } from "../../bench/model/op.ts";
import { storedBytes } from "../../bench/model/problem.ts";
import { binaryOf, emulate } from "../testdata/emulated.ts";
import { cudaKernels } from "./cuda/cuda.ts";
import { conversionBuild, dequantiseStep, quantiseStep } from "./dequantise.ts";
import { metalKernels } from "./metal/metal.ts";
import { qmm } from "./op.ts";
import { type QmmPoint, readPoint } from "./point.ts";
import {
  columnPlaces,
  qmvPlaces,
  qvmPlaces,
  tilePlaces,
  wgmmaPlaces,
} from "./testdata/cuda_mutants.ts";
import { unitCases } from "./testdata/metal_mutants.ts";

const kernel = (name: string) => cudaKernels.find((k) => k.name === name)!;

for (
  const { kernel: name, point: values, config } of [
    ...tilePlaces,
    ...qmvPlaces,
    ...qvmPlaces,
    ...wgmmaPlaces,
    ...columnPlaces,
  ]
) {
  const { m, n, k, type, layout, ...format } = values;
  const w = layout === "nn" ? "W" : "Wᵀ";
  cudaTest(
    `${name} is right on the emulator, ${type} x · ${w}, ${
      formatValues(format)
    } at ${m}x${n}x${k}, ${formatValues(config)}`,
    async (device) => {
      const point = readPoint(values);
      const candidate = [...kernel(name).candidates(point, device.info)]
        .find((c) => formatValues(c.config) === formatValues(config));
      assert(candidate, "no such config");
      assertStrictEquals(candidate.illegal, undefined);
      assertStrictEquals(
        await emulate(device, {
          op: qmm,
          kernel: kernel(name),
          point,
          config,
        }),
        "",
      );
    },
  );
}

/** 2^120: a factor of 2^14 more, and it is beyond fp32. */
const SCALE = 127 + 120;

/** The operation with scales at the end of E8M0's range, and x as small as they are large. */
const vast: Op<QmmPoint> = {
  ...qmm,
  inputs(point, options) {
    const [x, w, scales] = qmm.inputs(point, options);
    const small = decode(x!, point.type).map((v) => v * 2 ** -120);
    return [encode(small, point.type), w!, scales!.map(() => SCALE)];
  },
};

for (
  const [name, layout] of [
    ["qmv", "nt"],
    ["qmv", "nn"],
    ["qmm", "nt"],
    ["qmm-wgmma", "nt"],
  ] as const
) {
  cudaTest(
    `${name} is right where scales are vast, ${layout}`,
    async (device) => {
      const point = readPoint({
        m: 3,
        n: 64,
        k: 96,
        type: "bf16",
        mode: "mxfp4",
        layout,
      });
      const kernel = cudaKernels.find((k) => k.name === name)!;
      const candidate = [...kernel.candidates(point, device.info)]
        .find(({ illegal }) => illegal === undefined);
      assert(candidate, "no legal config");
      const { config } = candidate;
      assertStrictEquals(
        await emulate(device, { op: vast, kernel, point, config }),
        "",
      );
    },
  );
}

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
    stored.map((o) => [o.name, alloc(storedBytes(o))]),
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
        assertEquals(
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
      assertEquals(on.dense.download(), encode(want, type));
    },
  );
}

const run = (
  device: Device,
  at: {
    readonly kernel: string;
    readonly config: Values;
    readonly point: Values;
  },
) =>
  emulate(device, {
    op: qmm,
    kernel: metalKernels.find(({ name }) => name === at.kernel)!,
    point: readPoint(at.point),
    config: at.config,
    seeds: [1, 2, 3],
  });

metalTest(
  "qmm-splitk on Metal is right with every tile and slices of any length",
  async (device) => {
    const tiles = [
      { BM: 8, BN: 64, BK: 32, SM: 1, SN: 4, SPLIT: 2 },
      { BM: 16, BN: 32, BK: 64, SM: 1, SN: 4, SPLIT: 3 },
      { BM: 16, BN: 32, BK: 32, SM: 2, SN: 2, SPLIT: 5 },
      { BM: 32, BN: 64, BK: 32, SM: 2, SN: 2, SPLIT: 2 },
      { BM: 64, BN: 64, BK: 32, SM: 2, SN: 2, SPLIT: 1 },
    ];
    for (const config of tiles) {
      const point = { m: 19, n: 45, k: 352, bits: 4, group: 32, type: "bf16" };
      const at = { kernel: "qmm-splitk", config, point };
      assertStrictEquals(await run(device, at), "", JSON.stringify(config));
    }
  },
);

metalTest(
  "mlx is right on matrix units, rows of one tile and two",
  async (device) => {
    for (const at of unitCases) {
      assertStrictEquals(
        await emulate(device, at),
        "",
      );
    }
  },
);

metalTest("qvm_split_k on Metal is right in 32 slices", async (device) => {
  const point = { m: 1, n: 32, k: 8200, layout: "nn", bits: 2, group: 32 };
  const at = { kernel: "qvm_split_k", config: { SPLIT: 32 }, point };
  assertStrictEquals(await run(device, at), "");
});

metalTest("qmm-splitk on Metal multiplies by W as it lies", async (device) => {
  const config = { BM: 16, BN: 64, BK: 32, SM: 1, SN: 4, SPLIT: 3 };
  const point = { m: 9, n: 96, k: 200, layout: "nn", bits: 6, group: 32 };
  const at = { kernel: "qmm-splitk", config, point };
  assertStrictEquals(await run(device, at), "");
});
