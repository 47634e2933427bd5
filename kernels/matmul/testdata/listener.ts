/**
 * What tests of the CUDA kernels share: a device that only listens, and a small config.
 *
 * @module
 */

import { ok, strictEqual } from "node:assert/strict";
import type { Blas, FusedGemm, Gemm } from "../../../bench/device/blas.ts";
import type { Device, TensorShape } from "../../../bench/device/device.ts";
import type {
  Arg,
  LaunchShape,
  Memory,
  Step,
} from "../../../bench/device/queue.ts";
import { formatValues, type Values } from "../../../bench/model/grid.ts";
import type { Kernel } from "../../../bench/model/kernel_spec.ts";
import { cudaKernels } from "../cuda/cuda.ts";
import { matmul } from "../op.ts";
import type { MatmulPoint } from "../point.ts";
import type { TileConfig } from "../cuda/tiles.ts";
import { h200 } from "../../testdata/h200.ts";

/** A config that is legal at M = N = 16, K = 8192. */
export const config: TileConfig = {
  BM: 16,
  BN: 16,
  BK: 64,
  GROUP_M: 8,
  WARPS: 2,
  STAGES: 4,
  SPLIT: 64,
};
/** The first shape of the decompose-K study. */
export const seed = matmul.point({ m: 16, n: 16, k: 8192, epilogue: "relu" });

/** The kernel of that name among `kernels`, or the reference. */
export function kernel(
  name: string,
  kernels: readonly Kernel<MatmulPoint>[] = cudaKernels,
) {
  const found = [...kernels, ...matmul.referenceKernels ?? []]
    .find((k) => k.name === name);
  ok(found, name);
  return found;
}

/** The legal configs of a kernel at a point. */
export function legal(name: string, values: Values): Values[] {
  return [...kernel(name).candidates(matmul.point(values), h200)]
    .filter((c) => c.illegal === undefined).map((c) => c.config);
}

/** What was given to the queue. */
export interface Queued {
  readonly what: string;
  readonly args: readonly Arg[];
  readonly shape?: LaunchShape;
  readonly gemm?: Gemm | FusedGemm;
}

/** Returns what a kernel would queue at `values` and `config`, on a device that only listens. */
export function plan(
  name: string,
  values: Values,
  config: Values = {},
  { withBlas = true, withFused = true, offset = 0n, kernels = cudaKernels } =
    {},
) {
  const point = matmul.point(values);
  const allocated: number[] = [];
  let next = 1n << 20n;
  const memory = (bytes: number, extra = 0n): Memory => {
    const address = next + extra;
    next += 1n << 32n;
    const never = (): never => {
      throw new Error("prepare() touches no bytes");
    };
    return {
      bytes,
      address,
      upload: never,
      download: never,
      fill: never,
      slice: never,
      [Symbol.dispose]: never,
    };
  };
  const queue: Queued[] = [];
  const maps: TensorShape[] = [];
  const step = (queued: Queued): Step => ({
    label: queued.what,
    capturable: true,
    enqueue: () => void queue.push(queued),
  });
  const products: Pick<Blas, "fused" | "algorithms" | "fusedBy"> = {
    fused: (gemm) => [{
      name: "first",
      workspaceBytes: 0,
      step: step({ what: "fused", args: [], gemm }),
    }],
    algorithms: () => [{ algo: 66, splitk: 1 }, { algo: 66, splitk: 4 }],
    fusedBy: (gemm, algorithm) => ({
      name: formatValues(algorithm),
      workspaceBytes: 0,
      step: step({ what: formatValues(algorithm), args: [], gemm }),
    }),
  };
  const blas: Blas = {
    name: "cublas",
    version: "13",
    gemm: (gemm) => step({ what: "gemm", args: [], gemm }),
    ...(withFused ? products : {}),
  };
  const absent = (): never => {
    throw new Error("prepare() takes memory and programs from its context");
  };
  const device: Device = {
    info: h200,
    alloc: absent,
    load: absent,
    interval: absent,
    synchronize: absent,
    [Symbol.dispose]: absent,
    tensorMap(_, shape) {
      maps.push(shape);
      return { kind: "bytes", bytes: new Uint8Array(128), align: 64 };
    },
    ...(withBlas ? { blas } : { blasReason: "no libcublas.so.13" }),
  };
  const operands = Object.fromEntries(
    matmul.operands(point).map((o) => [o.name, memory(1, offset)]),
  );
  const { steps } = kernel(name, kernels).prepare({
    point,
    config,
    device,
    operands,
    program: (_, entry) => ({
      step: (args, shape) => step({ what: entry, args, shape }),
    }),
    alloc(bytes) {
      allocated.push(bytes);
      return memory(bytes);
    },
  });
  strictEqual(queue.length, 0, "prepare() queues nothing");
  for (const s of steps) s.enqueue();
  return { queue, allocated, operands, device, maps };
}

/** What was queued, in order. */
export const whats = ({ queue }: { readonly queue: readonly Queued[] }) =>
  queue.map((q) => q.what);
/** The memory that an argument is, if it is one. */
export const memoryOf = (arg: Arg | undefined) =>
  arg?.kind === "memory" ? arg.memory : undefined;
/** The 32-bit numbers among arguments. */
export const numbers = (args: readonly Arg[]) =>
  args.flatMap((a) => a.kind === "i32" ? [a.value] : []);
