/**
 * Runs kernels of any operation on this machine: a device, binaries built once, a check.
 *
 * @module
 */

import { assertEquals } from "@std/assert";
import { cpuBackend } from "../../backends/cpu/cpu.ts";
import { cuda } from "../../backends/cuda/cuda.ts";
import {
  type Build,
  buildText,
  type Device,
} from "../../bench/device/device.ts";
import type { Memory } from "../../bench/device/queue.ts";
import { compare } from "../../bench/measure/assert_close.ts";
import { CaseError } from "../../bench/model/errors.ts";
import type { Values } from "../../bench/model/grid.ts";
import type { InputOptions } from "../../bench/model/inputs.ts";
import type { Kernel } from "../../bench/model/kernel_spec.ts";
import type { Op } from "../../bench/model/op.ts";
import { type Operands, storedBytes } from "../../bench/model/problem.ts";
import { INPUTS, madeOf } from "./answers.ts";
import { title } from "./cases.ts";

const BACKENDS = { cpu: cpuBackend(), cuda: cuda() } as const;
/** A backend of this machine. */
export type BackendName = keyof typeof BACKENDS;
/** This machine. */
export const info = BACKENDS.cpu.find().devices[0]!;
/** Why a backend cannot run kernels here; empty where it can. */
export const missing: Readonly<Record<BackendName, string>> = {
  cpu: reasonOf("cpu"),
  cuda: reasonOf("cuda"),
};
/** Whether anything but TypeScript can run. */
export const hasCompiler = missing.cpu === "";
/** The end of the names of tests that need a compiler. */
export const skip = hasCompiler ? "" : " (ignored: no C compiler)";

function reasonOf(name: BackendName): string {
  const { devices, reason } = BACKENDS[name].find();
  if (devices[0] === undefined) return reason;
  try {
    BACKENDS[name].compiler(devices[0].arch);
    return "";
  } catch (error) {
    if (error instanceof CaseError) return error.message;
    throw error;
  }
}

/** Holds binaries until the tests of this file have ended. */
const folder = Deno.makeTempDirSync();
globalThis.addEventListener(
  "unload",
  () => Deno.removeSync(folder, { recursive: true }),
);
const binaries = new Map<string, string>();
const compiled = new Map<string, Promise<string>>();

/** The binary of `build`, compiled once. */
export async function built(
  build: Build,
  name: BackendName = "cpu",
): Promise<string> {
  const key = buildText(build);
  const known = compiled.get(key);
  if (known === undefined) {
    const { devices: [device] } = BACKENDS[name].find();
    const binary = `${folder}/${compiled.size}.so`;
    binaries.set(key, binary);
    compiled.set(
      key,
      BACKENDS[name].compiler(device!.arch).compile(build, binary),
    );
  }
  await compiled.get(key);
  return binaries.get(key)!;
}

/** A point, a config and inputs to run a kernel with. */
export interface Wish<P> {
  readonly point: P;
  readonly config?: Values;
  /** @default {INPUTS} */
  readonly options?: InputOptions;
  /** Changes the stored inputs, by operand name, before the run. */
  change?(name: string, bytes: Uint8Array<ArrayBuffer>): void;
}

/** A device that runs kernels of `op`; all memory is freed with it. */
export class Bench<P> implements Disposable {
  readonly #scope = new DisposableStack();
  readonly device: Device;

  constructor(readonly op: Op<P>, name: BackendName = "cpu") {
    const { devices: [device] } = BACKENDS[name].find();
    this.device = this.#scope.use(BACKENDS[name].open(device!));
  }

  /** Memory that starts as NaN. */
  alloc(bytes: number): Memory {
    const memory = this.#scope.use(this.device.alloc(bytes));
    memory.fill(0xff);
    return memory;
  }

  /** The operands of a point, its inputs uploaded. */
  operands({ point, options = INPUTS, change }: Wish<P>): Operands {
    const inputs = madeOf(this.op, point, options).inputs.values();
    return Object.fromEntries(
      this.op.operands(point).map((operand) => {
        const memory = this.alloc(storedBytes(operand));
        if (operand.role === "in") {
          const input = inputs.next().value!;
          // Points share inputs.
          const bytes = change ? new Uint8Array(input) : input;
          change?.(operand.name, bytes);
          memory.upload(bytes);
        }
        return [operand.name, memory];
      }),
    );
  }

  /** An entry of a binary that was built. */
  program = (build: Build, entry: string) =>
    this.#scope.use(this.device.load(binaries.get(buildText(build))!))
      .program(entry);

  /** Runs `kernel` and gives the bytes of each output. */
  async run(
    kernel: Kernel<P>,
    wish: Wish<P>,
  ): Promise<Uint8Array<ArrayBuffer>[]> {
    const { point, config = {} } = wish;
    const operands = this.operands(wish);
    await Promise.all(kernel.builds(point, config).map((b) => built(b)));
    const plan = kernel.prepare({
      point,
      config,
      device: this.device,
      operands,
      program: this.program,
      alloc: (bytes) => this.alloc(bytes),
    });
    for (const step of [...plan.setup ?? [], ...plan.steps]) step.enqueue();
    return this.op.operands(point).filter(({ role }) => role === "out")
      .map(({ name }) => operands[name]!.download());
  }

  /** Runs `kernel`, and fails unless it is right and has written to no padding. */
  async assertRight(kernel: Kernel<P>, wish: Wish<P>): Promise<void> {
    const { point, config = {}, options } = wish;
    const outputs = await this.run(kernel, wish);
    const { right } = madeOf(this.op, point, options);
    this.op.operands(point).filter(({ role }) => role === "out").forEach(
      (operand, i) => {
        const output = { operand, bytes: outputs[i]!, right: right[i]! };
        const { wrong } = compare(output, this.op.tolerance(point));
        assertEquals(
          wrong,
          undefined,
          `${kernel.name} ${title(this.op, point)} ${JSON.stringify(config)}`,
        );
      },
    );
  }

  [Symbol.dispose](): void {
    this.#scope.dispose();
  }
}
