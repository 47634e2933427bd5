/**
 * Loaded binaries, their entries, and launches that are one call.
 *
 * @module
 */

import { explaining } from "./checked.ts";
import {
  blocksOn,
  DYNAMIC_SHARED,
  launchConfig,
  NON_PORTABLE_CLUSTER,
} from "./launch_config.ts";
import type { Session } from "./session.ts";
import {
  addressOf,
  type Bytes,
  cstring,
  NULL,
  out64,
  scalarBytes,
} from "../ffi.ts";
import type { Module, Program } from "../../../bench/device/device.ts";
import {
  type Arg,
  i32,
  type LaunchShape,
  type Step,
} from "../../../bench/device/queue.ts";
import { CaseError } from "../../../bench/model/errors.ts";

/** Blocks of the largest cluster that every device with clusters can run. */
const PORTABLE_CLUSTER = 8;

/**
 * Loads the binary at the path `binary`.
 *
 * @throws {CaseError} `launch`, where the driver does not take it.
 */
export function loadModule(session: Session, binary: string): Module {
  const { call } = session.driver;
  const image = Deno.readFileSync(binary);
  session.enter();
  const module = explaining(
    () => `Cannot load ${binary}`,
    () => out64((to) => call.moduleLoad(to, image)),
  );
  // One program an entry: its limit of shared memory is state of the driver.
  const programs = new Map<string, Program>();
  let loaded = true;
  return {
    program(entry) {
      const known = programs.get(entry);
      if (known) return known;
      session.enter();
      const handle = explaining(
        () =>
          `Cannot find the entry ${entry} in ${binary}: declare it extern "C"`,
        () => out64((to) => call.moduleFunction(to, module, cstring(entry))),
      );
      const program = new DriverProgram(session, handle, entry);
      programs.set(entry, program);
      return program;
    },
    [Symbol.dispose]() {
      if (loaded) call.moduleUnload(module);
      loaded = false;
    },
  };
}

class DriverProgram implements Program {
  #sharedLimit: number;

  constructor(
    private readonly session: Session,
    private readonly handle: bigint,
    private readonly entry: string,
  ) {
    this.#sharedLimit = session.driver.freeShared;
  }

  step(args: readonly Arg[], shape: LaunchShape): Step {
    const doing = () => `Cannot launch ${this.entry} ${describe(shape)}`;
    const { sharedBytes = 0, cluster = 1 } = shape;
    for (const count of [...shape.grid, ...shape.block, sharedBytes, cluster]) {
      if (Number.isInteger(count) && count >= 0 && count < 2 ** 32) continue;
      throw new CaseError(
        "launch",
        `${doing()}: ${count} is not a whole number of 32 bits`,
      );
    }
    this.session.enter();
    explaining(doing, () => this.#allow(sharedBytes, cluster));
    if (shape.cooperative) this.#demandRoom(shape, doing);
    const launch = this.#launch(args, shape, doing);
    const early = shape.waits && this.session.driver.call.launchEx !== null
      ? this.#launch(args, { ...shape, overlap: true }, doing)
      : undefined;
    return {
      label: this.entry,
      capturable: true,
      enqueue: () => explaining(doing, launch),
      ...(early ? { early: () => explaining(doing, early) } : {}),
    };
  }

  #allow(sharedBytes: number, cluster: number): void {
    const { call } = this.session.driver;
    if (sharedBytes > this.#sharedLimit) {
      call.functionAttribute(this.handle, DYNAMIC_SHARED, sharedBytes);
      this.#sharedLimit = sharedBytes;
    }
    if (cluster > PORTABLE_CLUSTER) {
      call.functionAttribute(this.handle, NON_PORTABLE_CLUSTER, 1);
    }
  }

  /** @throws {CaseError} `unsupported`, where blocks that wait for others might not run. */
  #demandRoom(shape: LaunchShape, doing: () => string): void {
    const refuse = (why: string) =>
      new CaseError("unsupported", `${doing()}: ${why}`);
    if (shape.waits || shape.overlap) {
      throw refuse("blocks that wait for other blocks do not start early");
    }
    const blocks = shape.grid.reduce((product, length) => product * length);
    const most = explaining(
      doing,
      () => blocksOn(this.session, this.handle, shape),
    );
    if (most === undefined) {
      throw refuse(
        `its blocks wait for other blocks, and this ${this.session.driver.api} driver does not launch them together or cannot tell how many fit`,
      );
    }
    if (blocks > most) {
      throw refuse(
        `its ${blocks} blocks wait for other blocks, and ${most} are on the device together`,
      );
    }
  }

  #launch(
    args: readonly Arg[],
    shape: LaunchShape,
    doing: () => string,
  ): () => void {
    const { handle, session: { driver: { call, api }, stream } } = this;
    const { grid: [gx, gy, gz], block: [bx, by, bz], sharedBytes = 0 } = shape;
    const { cluster = 1, overlap = false, cooperative = false } = shape;
    // The closures hold `packed` and `config`, which the driver reads at each launch.
    const packed = pack(
      overlap ? args.map((a) => a.kind === "early" ? i32(1) : a) : args,
    );
    if (cluster === 1 && !overlap && !cooperative) {
      // deno-fmt-ignore: one operand a line, as in the driver's table
      return () =>
        call.launch(
          handle,
          gx, gy, gz,
          bx, by, bz,
          sharedBytes, stream,
          packed.address, NULL,
        );
    }
    const { launchEx } = call;
    if (launchEx === null) {
      throw new CaseError(
        "launch",
        `${doing()}: this ${api} driver has no launch with attributes; a newer driver has`,
      );
    }
    const config = launchConfig(shape, stream);
    return () => launchEx(config.address, handle, packed.address, NULL);
  }
}

function describe(shape: LaunchShape): string {
  const { grid, block, sharedBytes = 0, cluster = 1 } = shape;
  return [
    `with grid ${grid.join("x")}, block ${block.join("x")}`,
    ...(sharedBytes > 0 ? [`${sharedBytes} bytes of shared memory`] : []),
    ...(cluster > 1 ? [`clusters of ${cluster}`] : []),
  ].join(", ");
}

/** Parameters of one launch, where C can read them. */
export interface Packed {
  /** The values, each aligned as in C. */
  readonly values: ArrayBuffer;
  /** One pointer into `values` for each parameter. */
  readonly pointers: BigUint64Array<ArrayBuffer>;
  /** The address of `pointers`, valid while this object is reachable. */
  readonly address: bigint;
}

/**
 * Copies `args` to memory that does not move; call it once a step, not once a launch.
 *
 * @throws {RangeError} If an alignment is not a power of two.
 */
export function pack(args: readonly Arg[]): Packed {
  const parts = args.map(partOf);
  const widest = Math.max(16, ...parts.map(({ align }) => align));
  const room = parts.reduce((sum, p) => sum + p.bytes.length + p.align, widest);
  const values = new ArrayBuffer(room);
  const base = addressOf(values);
  // Alignment is of the address, and the buffer itself may start anywhere.
  const first = Number(-base & BigInt(widest - 1));
  let at = first;
  const pointers = new BigUint64Array(args.length);
  for (const [i, { bytes, align }] of parts.entries()) {
    at = first + Math.ceil((at - first) / align) * align;
    new Uint8Array(values, at, bytes.length).set(bytes);
    pointers[i] = base + BigInt(at);
    at += bytes.length;
  }
  return { values, pointers, address: addressOf(pointers.buffer) };
}

/** Returns the bytes of a parameter, and how C aligns it. */
function partOf(arg: Arg): { readonly bytes: Bytes; readonly align: number } {
  if (arg.kind === "memory") {
    const { address } = arg.memory;
    return {
      bytes: new Uint8Array(BigUint64Array.of(address).buffer),
      align: 8,
    };
  }
  if (arg.kind !== "bytes") {
    const bytes = scalarBytes(arg);
    return { bytes, align: bytes.length };
  }
  const { bytes, align } = arg;
  if (align > 0 && Number.isInteger(Math.log2(align))) return { bytes, align };
  throw new RangeError(
    `Cannot align a kernel parameter to ${align} bytes: not a power of two`,
  );
}
