/**
 * CUDA kernels that cheat by a stream of their own, which only a GPU has.
 *
 * @module
 */

import { type Arg, CaseError } from "mnkbench";

const p = "buffer" as const;
const DRIVER = {
  cuModuleLoadData: { parameters: [p, p], result: "i32" },
  cuModuleGetFunction: { parameters: [p, "u64", p], result: "i32" },
  cuStreamCreate: { parameters: [p, "u32"], result: "i32" },
  cuStreamSynchronize: { parameters: ["u64"], result: "i32" },
  cuStreamSetAttribute: { parameters: ["u64", "i32", p], result: "i32" },
  cuCtxSetLimit: { parameters: ["i32", "u64"], result: "i32" },
  cuLaunchKernel: {
    parameters: [
      "u64",
      ...["u32", "u32", "u32", "u32", "u32", "u32", "u32"] as const,
      ...["u64", p, "u64"] as const,
    ],
    result: "i32",
  },
} as const satisfies Deno.ForeignLibraryInterface;

/** Numbers of cuda.h. */
const NON_BLOCKING = 1;
const PERSISTING_L2_LIMIT = 6;
const ACCESS_POLICY_WINDOW = 1;
const [STREAMING, PERSISTING] = [1, 2];

/** A stream that the harness does not know. */
export interface OwnStream {
  /** Queues a launch of one block. */
  launch(): void;
  /** Waits for its launches. */
  wait(): void;
  /** Makes what its launches read of `bytes` at `address` stay in the second-level cache. */
  persist(address: bigint, bytes: number): void;
}

function demand(call: string, status: number): void {
  if (status !== 0) throw new CaseError("launch", `${call}: status ${status}`);
}

function out(call: (to: BigUint64Array<ArrayBuffer>) => number, name: string) {
  const to = new BigUint64Array(1);
  demand(name, call(to));
  return to[0]!;
}

/** Makes a stream for launches of `entry` of the CUDA source `source` with `args`. */
export function ownStream(
  source: URL,
  entry: string,
  args: readonly Arg[],
): OwnStream {
  const { symbols: driver } = Deno.dlopen("libcuda.so.1", DRIVER);
  const ptx = Deno.makeTempFileSync({ suffix: ".ptx" });
  const { success, stderr } = new Deno.Command("nvcc", {
    args: ["-ptx", "-arch=sm_90a", "-o", ptx, source.pathname],
  }).outputSync();
  if (!success) {
    throw new CaseError("compile", new TextDecoder().decode(stderr));
  }
  const image = new TextEncoder().encode(`${Deno.readTextFileSync(ptx)}\0`);
  Deno.removeSync(ptx);
  const module = out((to) => driver.cuModuleLoadData(to, image), "load");
  const name = new TextEncoder().encode(`${entry}\0`);
  const kernel = out(
    (to) => driver.cuModuleGetFunction(to, module, name),
    "get",
  );
  const stream = out(
    (to) => driver.cuStreamCreate(to, NON_BLOCKING),
    "create",
  );
  const values = args.map((arg) => {
    if (arg.kind === "memory") return BigUint64Array.of(arg.memory.address);
    if (arg.kind === "i32") return Int32Array.of(arg.value);
    throw new Error(`no argument of the cheats is ${arg.kind}`);
  });
  // For each launch: pointers alone keep no value alive.
  const pointers = () =>
    BigUint64Array.from(
      values,
      (value) => Deno.UnsafePointer.value(Deno.UnsafePointer.of(value)),
    );
  return {
    launch: () =>
      demand(
        "launch",
        driver.cuLaunchKernel(
          kernel,
          ...[1, 1, 1, 256, 1, 1, 0] as const,
          stream,
          pointers(),
          0n,
        ),
      ),
    wait: () => demand("wait", driver.cuStreamSynchronize(stream)),
    persist(address, bytes) {
      const size = BigInt(bytes);
      demand("limit", driver.cuCtxSetLimit(PERSISTING_L2_LIMIT, size));
      const window = new DataView(new ArrayBuffer(64));
      window.setBigUint64(0, address, true);
      window.setBigUint64(8, size, true);
      window.setFloat32(16, 1, true);
      window.setInt32(20, PERSISTING, true);
      window.setInt32(24, STREAMING, true);
      const value = new Uint8Array(window.buffer);
      demand(
        "window",
        driver.cuStreamSetAttribute(stream, ACCESS_POLICY_WINDOW, value),
      );
    },
  };
}
