/**
 * Libraries of MSL, their entries, and dispatches.
 *
 * @module
 */

import type { Module, Program } from "../../bench/device/device.ts";
import type { Arg, LaunchShape, Step } from "../../bench/device/queue.ts";
import { CaseError } from "../../bench/model/errors.ts";
import { type Bytes, scalarBytes } from "../shared/ffi.ts";
import { errorText, makeLibrary } from "./library.ts";
import { MetalMemory } from "./memory.ts";
import type { Objc } from "./objc.ts";
import type { MetalQueue } from "./queue.ts";

/** Bytes of a value that `setBytes` takes at most, and arguments of a kernel. */
const MOST_BYTES = 4096;
const MOST_ARGS = 31;
/** Threadgroup memory comes in multiples of so many bytes. */
const ROOM_UNIT = 16;

/** The device that a module is loaded for. */
interface Loading {
  readonly queue: MetalQueue;
  readonly device: bigint;
  /** Bytes of threadgroup memory that a threadgroup may have. */
  readonly sharedBytes: number;
}

/** Loads the MSL source at the path `binary`. */
export function loadMetal(loading: Loading, binary: string): Module {
  const { queue: { objc }, device } = loading;
  const source = Deno.readTextFileSync(binary);
  const library = makeLibrary(objc, device, { source, path: binary });
  const scope = new DisposableStack();
  scope.defer(() => objc.release(library));
  const programs = new Map<string, Program>();
  return {
    program(entry) {
      const known = programs.get(entry);
      if (known) return known;
      const pipeline = pipelineOf(objc, { device, library, entry, binary });
      scope.defer(() => objc.release(pipeline));
      const program = new MetalProgram(loading, pipeline, entry);
      programs.set(entry, program);
      return program;
    },
    [Symbol.dispose]: () => scope.dispose(),
  };
}

/** @throws {CaseError} `launch`, where there is no such entry, or no code for it. */
function pipelineOf(
  objc: Objc,
  { device, library, entry, binary }: {
    readonly device: bigint;
    readonly library: bigint;
    readonly entry: string;
    readonly binary: string;
  },
): bigint {
  using name = objc.string(entry);
  const found = objc.send(library, "newFunctionWithName:", name.object);
  if (found === 0n) {
    throw new CaseError(
      "launch",
      `Cannot find the entry ${entry} in ${binary}: newFunctionWithName: nil`,
    );
  }
  using named = objc.own(found);
  using _pool = objc.pool();
  const error = new BigUint64Array(1);
  const sel = objc.sel("newComputePipelineStateWithFunction:error:");
  const to = new Uint8Array(error.buffer);
  const pipeline = objc.calls.make1(device, sel, named.object, to);
  if (pipeline !== 0n) return pipeline;
  throw new CaseError(
    "launch",
    `Cannot make a pipeline of ${entry} in ${binary}: ${
      errorText(objc, error) || "nil"
    }`,
  );
}

class MetalProgram implements Program {
  readonly #threads: number;

  constructor(
    readonly loading: Loading,
    readonly pipeline: bigint,
    readonly entry: string,
  ) {
    this.#threads = Number(
      loading.queue.objc.send(pipeline, "maxTotalThreadsPerThreadgroup"),
    );
  }

  step(args: readonly Arg[], shape: LaunchShape): Step {
    const { grid: blocks, block: threads, cooperative } = shape;
    const refused = cooperative
      ? "Metal does not say that a whole grid is on the device together"
      : this.#refusal(args, shape);
    if (refused !== undefined) {
      throw new CaseError(
        cooperative ? "unsupported" : "launch",
        `Cannot launch ${this.entry} with grid ${blocks.join("x")}, block ${
          threads.join("x")
        }: ${refused}`,
      );
    }
    const { queue } = this.loading;
    const { objc } = queue;
    const held = args.map(hold);
    const [grid, block] = [shape.grid, shape.block].map((size) =>
      new Uint8Array(new BigUint64Array(size.map(BigInt)).buffer)
    );
    const { sharedBytes = 0 } = shape;
    const room = Math.ceil(sharedBytes / ROOM_UNIT) * ROOM_UNIT;
    const sel = {
      buffer: "setBuffer:offset:atIndex:",
      bytes: objc.sel("setBytes:length:atIndex:"),
      dispatch: objc.sel("dispatchThreadgroups:threadsPerThreadgroup:"),
    };
    return {
      label: this.entry,
      capturable: false,
      enqueue: () => {
        const encoder = queue.encoder("computeCommandEncoder");
        objc.send(encoder, "setComputePipelineState:", this.pipeline);
        for (const [i, value] of held.entries()) {
          const index = BigInt(i);
          if ("memory" in value) {
            const { buffer, offset } = value.memory;
            objc.send(encoder, sel.buffer, buffer, BigInt(offset), index);
          } else {
            const { bytes } = value;
            const length = BigInt(bytes.length);
            objc.calls.bytes(encoder, sel.bytes, bytes, length, index);
          }
        }
        if (room > 0) {
          const set = "setThreadgroupMemoryLength:atIndex:";
          objc.send(encoder, set, BigInt(room), 0n);
        }
        objc.calls.sizes(encoder, sel.dispatch, grid!, block!);
      },
    };
  }

  /**
   * What Metal's own validation would end the process for, or what it has not. It is off
   * outside of Xcode, where the same does anything.
   */
  #refusal(args: readonly Arg[], shape: LaunchShape): string | undefined {
    const { grid, block, sharedBytes = 0, cluster = 1, overlap } = shape;
    const odd = [...grid, ...block].find((n) =>
      !(Number.isInteger(n) && n > 0 && n < 2 ** 32)
    );
    if (odd !== undefined) return `${odd} is no size of 32 bits`;
    const threads = block[0] * block[1] * block[2];
    if (threads > this.#threads) {
      return `${threads} threads, of ${this.#threads} at most in a threadgroup of it`;
    }
    const { sharedBytes: most } = this.loading;
    if (sharedBytes > most) {
      return `${sharedBytes} bytes of threadgroup memory, there are ${most}`;
    }
    if (cluster > 1) return "Metal has no clusters";
    if (overlap) return "Metal starts no dispatch before its predecessor ends";
    if (args.length > MOST_ARGS) {
      return `${args.length} arguments, of ${MOST_ARGS}`;
    }
    if (args.some(({ kind }) => kind === "f64")) {
      return "Metal has no double precision";
    }
    const long = args.find((a) =>
      a.kind === "bytes" && a.bytes.length > MOST_BYTES
    );
    return long && `an argument of more than ${MOST_BYTES} bytes by value`;
  }
}

/** Returns `arg` as `setBuffer` or `setBytes` takes it. */
function hold(
  arg: Arg,
): { readonly memory: MetalMemory } | { readonly bytes: Bytes } {
  if (arg.kind === "bytes") return { bytes: arg.bytes.slice() };
  if (arg.kind !== "memory") return { bytes: scalarBytes(arg) };
  if (arg.memory instanceof MetalMemory) return { memory: arg.memory };
  throw new TypeError("Cannot launch on memory of another device");
}
