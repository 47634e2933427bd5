/**
 * Small CUDA kernels on the lane emulator, for tests.
 *
 * @module
 */

import { assertMatch, assertStrictEquals } from "@std/assert";
import { cudaTest, emulatedCuda } from "./cuda_mocks.ts";
import { scratch } from "./mocks.ts";
import type { Device, TensorShape } from "../../bench/device/device.ts";
import { i32, mem } from "../../bench/device/queue.ts";
import { CaseError } from "../../bench/model/errors.ts";
import { fileURLToPath } from "node:url";

/** The headers in whose place the emulator's come. */
const HEADERS = "barrier memory mma tcgen05".split(" ")
  .map((name) => `ptx_${name}`);

let count = 0;

/** Compiles `text`, a source that may use all of `ptx*.h`, and returns the binary's path. */
export async function compileCuda(
  text: string,
  defines: Readonly<Record<string, string | number>> = {},
): Promise<string> {
  const api = fileURLToPath(new URL("../../kernels/device/", import.meta.url));
  const source = scratch(`${count}.cu`);
  const binary = scratch(`${count++}.cubin`);
  const includes = HEADERS.map((name) => `#include "${api}${name}.h"\n`);
  await Deno.writeTextFile(source, includes.join("") + text);
  const compiler = emulatedCuda().compiler("sm_90a");
  await compiler.compile(
    { source: new URL(`file://${source}`), defines },
    binary,
  );
  return binary;
}

/** Options of a launch. */
export interface Run {
  /** @default {"k"} */
  readonly entry?: string;
  /** @default {1} */
  readonly grid?: number;
  /** @default {128} */
  readonly block?: number;
  /** Bytes of the block's memory. @default {2048} */
  readonly shared?: number;
  /** Bytes of `out`. @default {4096} */
  readonly bytes?: number;
  /** Blocks of a cluster. @default {1} */
  readonly cluster?: number;
  /** Whether blocks wait for others. @default {false} */
  readonly cooperative?: boolean;
  /** The shape of a fourth parameter, a tensor map of `in`. @default {there is none} */
  readonly tensor?: TensorShape;
}

/**
 * Runs the kernel `(in, out, n)` of `binary`, n the block's threads, or `(in, out, n, map)`;
 * returns the `bytes` that are in `out` then.
 */
export function run(
  device: Device,
  binary: string,
  { input, bytes = 4096, ...how }: Run & {
    readonly input: Uint8Array<ArrayBuffer>;
  },
): Uint8Array<ArrayBuffer> {
  const { entry = "k", grid = 1, block = 128, shared = 2048, ...more } = how;
  const { tensor, ...attributes } = more;
  using module = device.load(binary);
  using from = device.alloc(input.length);
  using to = device.alloc(bytes);
  from.upload(input);
  to.fill(0);
  const maps = tensor ? [device.tensorMap!(from, tensor)] : [];
  module.program(entry).step([mem(from), mem(to), i32(block), ...maps], {
    grid: [grid, 1, 1],
    block: [block, 1, 1],
    sharedBytes: shared,
    ...attributes,
  }).enqueue();
  device.synchronize();
  return to.download();
}

/** The same over numbers from 0 on; what the device says of the kernel, or nothing. */
export function said(device: Device, binary: string, how: Run): string {
  const numbers = Uint32Array.from({ length: 1024 }, (_, i) => i);
  try {
    run(device, binary, { ...how, input: new Uint8Array(numbers.buffer) });
    return "";
  } catch (error) {
    if (!(error instanceof CaseError)) throw error;
    return error.message;
  }
}

/**
 * A kernel that is right: `t` is the thread, `n` how many the block has, `in` has numbers from 0
 * on, `out` zeros, `map` is that of `in` where it has a `tensor`, `m` is where the block's memory
 * starts and `s` its words. `from` in it, at its first place, becomes `to`, and that is found.
 */
export interface Planted extends Run {
  readonly name: string;
  readonly right: string;
  readonly from: string;
  readonly to: string;
  readonly found: RegExp;
}

const kernel = (name: string, body: string, { tensor }: Run) => `
extern "C" __global__ void __launch_bounds__(1024)
${name}(const unsigned* in, unsigned* out, int n${
  tensor ? ", const __grid_constant__ TensorMap map" : ""
}) {
  int t = threadIdx.x;
  unsigned m = shared_address(memory), *s = (unsigned*)memory;
  ${body}
}`;

/** Registers a test for each; all kernels are compiled at once. */
export function plantedTests(all: readonly Planted[]): void {
  const compile = () =>
    compileCuda([
      "SHARED_MEMORY(128);",
      ...all.map((p, i) => kernel(`right_${i}`, p.right, p)),
      ...all.map((p, i) =>
        kernel(`wrong_${i}`, p.right.replace(p.from, () => p.to), p)
      ),
    ].join("\n"));
  let compiled: Promise<string> | undefined;
  all.forEach(({ name, right, from, to: _, found, ...how }, i) =>
    cudaTest(`the emulator finds that ${name}`, async (device, mock) => {
      assertStrictEquals(
        right.includes(from),
        true,
        `it does not have: ${from}`,
      );
      const binary = await (compiled ??= compile());
      for (const seed of [1, 2, 3]) {
        mock.seed(seed);
        const text = said(device, binary, { ...how, entry: `right_${i}` });
        assertStrictEquals(text, "", `order ${seed}`);
      }
      mock.seed(1);
      assertMatch(said(device, binary, { ...how, entry: `wrong_${i}` }), found);
    })
  );
}
