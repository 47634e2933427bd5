/**
 * The CUDA kernels of {@linkcode swiglu}: products of cuBLAS and a kernel that joins them, and all
 * in one launch.
 *
 * @module
 */

import {
  type Build,
  type DeviceInfo,
  tensorMapOn,
} from "../../../bench/device/device.ts";
import { EARLY, type Memory, type Step } from "../../../bench/device/queue.ts";
import { BYTES } from "../../../bench/model/dtype.ts";
import type { Values } from "../../../bench/model/grid.ts";
import { defineKernel, type Rule } from "../../../bench/model/kernel.ts";
import type { Context, Kernel } from "../../../bench/model/kernel_spec.ts";
import { blasOf } from "../../common/blas.ts";
import { launch, launched } from "../../common/launch.ts";
import { noWgmma } from "../../common/rules.ts";
import {
  evenRows,
  type RingConfig,
  ringConfigs,
  ringDefines,
  type RingNeeds,
  ringRules,
  ringShape,
  ringTime,
  tilingOf,
} from "../../common/wgmma_ring.ts";
import { swiglu, type SwigluPoint } from "../op.ts";
import { fusedDot } from "./fused_dot.ts";

/** K of a box: 128 bytes. */
const BOX = 64;

/** Bytes of shared memory for the sums that a cluster sends. */
function mailBytes({ BM, BN, CLUSTER }: RingConfig): number {
  // A share is whole units of two gates and two ups.
  return CLUSTER > 1
    ? CLUSTER * Math.ceil(BM * BN / 2 / CLUSTER) * 4 * BYTES.f32 + 16
    : 0;
}

function needsOf(_: SwigluPoint, config: RingConfig): RingNeeds {
  const { BM, BN, BK, WARPS } = config;
  return {
    // A step has two barriers.
    step: (2 * BM + BN) * BK * BYTES.bf16 + 16,
    beside: mailBytes(config),
    // Gates and ups, and what nvcc 13.0 takes beside them.
    registers: BM * BN / 16 / WARPS + 26,
  };
}

const rules = {
  tile: (_, { BM, BN, BK, WARPS }) =>
    BM % 64 === 0 && BM <= 256 && BK % BOX === 0 && WARPS % 4 === 0 &&
      WARPS * 16 >= BM && BN <= 128 && BM * BN / 16 / WARPS % 8 === 0
      ? undefined
      : `${WARPS} warps have no whole products of ${BM} x ${BN}`,
  ...ringRules(needsOf),
} satisfies Record<string, Rule<SwigluPoint, RingConfig>>;

function configs(
  point: SwigluPoint,
  info: DeviceInfo,
): Iterable<RingConfig> {
  return ringConfigs(point, info, {
    rows: [64, 128].map((most) => evenRows(point.m, most)),
    steps: [BOX, 2 * BOX],
    splitsTiles: (BN) => BN % 16 === 0 && BN >= 64,
  });
}

/** See {@linkcode ringTime}. Nothing is fitted to times of this kernel. */
function predict(
  point: SwigluPoint,
  config: RingConfig,
  { units }: DeviceInfo,
): number {
  const { m, n, k } = point;
  const { BM, BN, BK } = config;
  return ringTime(point, config, {
    units,
    memory: (m + 2 * n) * k * BYTES.bf16 / MEMORY,
    copied: (2 * BM + Math.min(m, BN)) * BYTES.bf16,
    // A product of 64 x BN x 16 takes as long as its rows from shared memory at least.
    products: BM / 64 * 2 * BK / 16 * Math.max(BN / 2, 16),
    waits: 250,
    sums: 2 * BM * BN,
  });
}

/** Bytes per µs of an H200's memory that long copies reach. */
const MEMORY = 4.2e6;

/** Both products and what joins them. */
export const fused: Kernel<SwigluPoint> = launched<SwigluPoint, RingConfig>(
  swiglu,
  {
    name: "fused",
    backend: "cuda",
    idea:
      "wgmma of both weights in one block, by tensor maps, K over a cluster",
    unsupported: ({ k }, info) =>
      noWgmma(info) ??
        (k % 8 === 0
          ? undefined
          : `K=${k}: tensor maps take rows of whole 16-byte chunks`),
    configs,
    rules,
    predict,
    startsEarly: () => true,
    build: (point, config) => ({
      source: new URL("./swiglu.cu", import.meta.url),
      defines: {
        TYPE: point.type,
        ...ringDefines(point, config, needsOf(point, config)),
      },
    }),
    launch({ point, config, operands, device }) {
      const { m, n, k, type } = point;
      const { BM, BN } = config;
      const { slice } = tilingOf(point, config);
      const { X, W1, W2, C } = operands;
      const box = { type, columns: k, ld: k, boxColumns: BOX };
      const weights = { ...box, rows: n, boxRows: BM };
      return {
        args: [
          tensorMapOn(device, W1!, weights),
          tensorMapOn(device, W2!, weights),
          tensorMapOn(device, X!, { ...box, rows: m, boxRows: BN }),
          ...[C, m, n, k, slice, EARLY],
        ],
        shape: ringShape(point, config, needsOf(point, config)),
      };
    },
  },
);

type Site = Context<SwigluPoint, Values>;

/** Threads of a block of `silu.cu`, and columns of a thread. */
const SILU = { threads: 256, each: 8 };

function siluOf({ type }: SwigluPoint): Build {
  return {
    source: new URL("./silu.cu", import.meta.url),
    defines: { TYPE: type },
  };
}

/** silu(gate) * up of sums whose rows are `ld` apart. */
function joined(
  site: Site,
  { gate, up, ld }: {
    readonly gate: Memory;
    readonly up: Memory;
    readonly ld: number;
  },
): Step {
  const { m, n } = site.point;
  const { threads, each } = SILU;
  const blocks = Math.ceil(m * Math.ceil(n / each) / threads);
  return launch(site, siluOf(site.point), {
    args: [gate, up, site.operands.C, m, n, ld],
    shape: { grid: [blocks, 1, 1], block: [threads, 1, 1] },
  });
}

/** The library's product of X with `rows` rows of weights. */
function productOf(
  { point: { m, k, type }, operands, device, alloc }: Site,
  weights: Memory,
  rows: number,
): { readonly sums: Memory; readonly step: Step } {
  const sums = alloc(m * rows * BYTES[type]);
  const step = blasOf(device).gemm({
    m,
    n: rows,
    k,
    a: { memory: operands.X!, type, ld: k },
    b: { memory: weights, type, ld: k, transposed: true },
    c: { memory: sums, type, ld: rows },
  });
  return { sums, step };
}

const cublas: Kernel<SwigluPoint> = defineKernel(swiglu, {
  name: "cublas",
  backend: "cuda",
  library: true,
  idea:
    "two products of the library, then silu(gate) * up by a kernel of its own",
  builds: (point) => [siluOf(point)],
  prepare(site) {
    const { operands: { W1, W2 }, point: { n } } = site;
    const [gate, up] = [productOf(site, W1!, n), productOf(site, W2!, n)];
    return {
      steps: [
        ...[gate.step, up.step],
        joined(site, { gate: gate.sums, up: up.sums, ld: n }),
      ],
    };
  },
});

const merged: Kernel<SwigluPoint> = defineKernel(swiglu, {
  name: "cublas-merged",
  backend: "cuda",
  library: true,
  idea:
    "weights stored one below the other before the clock starts, one product, then silu(gate) * up",
  builds: (point) => [siluOf(point)],
  prepare(site) {
    const { operands: { W1, W2 }, point: { m, n, k, type }, alloc } = site;
    const bytes = n * k * BYTES[type];
    const weights = alloc(2 * bytes);
    const { sums, step } = productOf(site, weights, 2 * n);
    const row = n * BYTES[type];
    const up = sums.slice(row, (2 * m - 1) * row);
    return {
      setup: [{
        label: "merge",
        capturable: false,
        enqueue() {
          weights.slice(0, bytes).copyFrom(W1!);
          weights.slice(bytes, bytes).copyFrom(W2!);
        },
      }],
      steps: [step, joined(site, { gate: sums, up, ld: 2 * n })],
    };
  },
});

/** In the order of listings and tables. */
export const cudaKernels: readonly Kernel<SwigluPoint>[] = [
  ...[cublas, merged],
  ...[fused, fusedDot],
];
