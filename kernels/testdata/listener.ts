/**
 * Records what a kernel queues on a device that runs nothing, for tests of launches.
 *
 * @module
 */

import { assertEquals } from "@std/assert";
import type { Blas, FusedGemm, Gemm } from "../../bench/device/blas.ts";
import type { Build, Device } from "../../bench/device/device.ts";
import type {
  Arg,
  LaunchShape,
  Memory,
  Step,
} from "../../bench/device/queue.ts";
import { formatValues, type Values } from "../../bench/model/grid.ts";
import type { Kernel } from "../../bench/model/kernel_spec.ts";
import type { Op } from "../../bench/model/op.ts";
import { h200 } from "./devices.ts";

/** A launch or a call of a library, as it was queued. */
export interface Queued {
  /** The entry of a launch, or `gemm`, `fused`, or the algorithm of a library's product. */
  readonly what: string;
  readonly args: readonly Arg[];
  readonly build?: Build;
  readonly shape?: LaunchShape;
  readonly gemm?: Gemm | FusedGemm;
}

/** The libraries of the device, and the alignment of operands. */
export interface Listening {
  /** @default {true} */
  readonly withBlas?: boolean;
  /** Whether its library has GEMMs with epilogues. @default {true} */
  readonly withFused?: boolean;
  /** Bytes beyond an address of 2^20: of all operands, or of each in order. @default {0n} */
  readonly offset?: bigint | readonly bigint[];
}

/** Fails: tests read no bytes. */
function never(): never {
  throw new Error("prepare() touches no bytes of operands");
}

function memoryAt(address: bigint, bytes: number, scratch: boolean): Memory {
  return {
    bytes,
    address,
    upload: scratch ? () => {} : never,
    fill: scratch ? () => {} : never,
    slice: scratch
      ? (at, size) => memoryAt(address + BigInt(at), size, true)
      : never,
    download: never,
    copyFrom: scratch ? () => {} : never,
    [Symbol.dispose]: never,
  };
}

/** Memory that is given back, and of which only the size is asked. */
export function scratch(bytes: number): Memory {
  return { ...memoryAt(1n << 20n, bytes, false), [Symbol.dispose]() {} };
}

/** Prepares `kernel` at a point of `op` and a config, and returns what it queues. */
export function listen<P>(
  op: Op<P>,
  kernel: Kernel<P>,
  { values, config = {}, withBlas = true, withFused = true, offset = 0n }:
    & Listening
    & { readonly values: Values; readonly config?: Values },
) {
  const point = op.point(values);
  const allocated: number[] = [];
  const queue: Queued[] = [];
  const maps: unknown[] = [];
  let [next, index] = [1n << 20n, 0];
  const memory = (bytes: number, scratch: boolean): Memory => {
    const beyond = typeof offset === "bigint" ? offset : offset[index] ?? 0n;
    if (!scratch) index++;
    const address = next + (scratch ? 0n : beyond);
    next += 1n << 32n;
    return memoryAt(address, bytes, scratch);
  };
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
    synchronize() {},
    [Symbol.dispose]: absent,
    tensorMap(_, shape) {
      maps.push(shape);
      return { kind: "bytes", bytes: new Uint8Array(128), align: 64 };
    },
    ...(withBlas ? { blas } : { blasReason: "no libcublas.so.13" }),
  };
  const operands = Object.fromEntries(
    op.operands(point).map((o) => [o.name, memory(1, false)]),
  );
  const plan = kernel.prepare({
    point,
    config,
    device,
    operands,
    program: (build, entry) => ({
      step: (args, shape) => step({ what: entry, args, build, shape }),
    }),
    alloc(bytes) {
      allocated.push(bytes);
      return memory(bytes, true);
    },
  });
  assertEquals(queue.length, 0, "prepare() queues nothing");
  for (const { enqueue } of plan.steps) enqueue();
  return { queue, allocated, operands, device, maps, ...plan };
}

/** The names of what was queued, in order. */
export const whats = ({ queue }: { readonly queue: readonly Queued[] }) =>
  queue.map(({ what }) => what);
/** The memory that an argument is, if it is one. */
export const memoryOf = (arg: Arg | undefined) =>
  arg?.kind === "memory" ? arg.memory : undefined;
/** The 32-bit numbers among arguments. */
export const numbers = (args: readonly Arg[]) =>
  args.flatMap((arg) => arg.kind === "i32" ? [arg.value] : []);
