/**
 * What the tests of CPU kernels share: a device, binaries built once, a check.
 *
 * @module
 */

import { ok } from "node:assert/strict";
import { cpuBackend } from "../../../backends/cpu/cpu.ts";
import { cuda } from "../../../backends/cuda/cuda.ts";
import type { Build, Device } from "../../../bench/device/device.ts";
import type { Memory } from "../../../bench/device/queue.ts";
import { BYTES, decode } from "../../../bench/model/dtype.ts";
import { CaseError } from "../../../bench/model/errors.ts";
import { formatName } from "../../../bench/formats/quant_format.ts";
import type { Values } from "../../../bench/model/grid.ts";
import type { Kernel } from "../../../bench/model/kernel_spec.ts";
import { buildText } from "../../../bench/measure/prepared_plan.ts";
import { elementsOf, type Operands } from "../../../bench/model/problem.ts";
import { qmm } from "../op.ts";
import type { QmmPoint } from "../point.ts";

const BACKENDS = { cpu: cpuBackend(), cuda: cuda() } as const;
/** A backend that weights are converted on. */
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

/** The end of the names of tests that need a compiler. */
export const skip = hasCompiler ? "" : " (ignored: no C compiler)";
/** Of all tests. */
export const INPUTS = { seed: 3, fill: "normal" } as const;

/** Where binaries are until the tests of this file have ended. */
const folder = Deno.makeTempDirSync();
globalThis.addEventListener(
  "unload",
  () => Deno.removeSync(folder, { recursive: true }),
);
const binaries = new Map<string, string>();
const compiled = new Map<string, Promise<string>>();

/** Sees that `build` is compiled. */
export async function built(
  build: Build,
  name: BackendName = "cpu",
): Promise<void> {
  const key = buildText(build);
  const { devices: [device] } = BACKENDS[name].find();
  const binary = `${folder}/${compiled.size}.so`;
  const known = compiled.get(key);
  const done = known ??
    BACKENDS[name].compiler(device!.arch).compile(build, binary);
  compiled.set(key, done);
  if (known === undefined) binaries.set(key, binary);
  await done;
}

/** A device that runs kernels; all memory is freed with it. */
export class Bench implements Disposable {
  readonly #scope = new DisposableStack();
  readonly device: Device;

  constructor(name: BackendName = "cpu") {
    const { devices: [device] } = BACKENDS[name].find();
    this.device = this.#scope.use(BACKENDS[name].open(device!));
  }

  /** Memory that starts as NaN. */
  alloc(bytes: number): Memory {
    const memory = this.#scope.use(this.device.alloc(bytes));
    memory.fill(0xff);
    return memory;
  }

  /** The operands of `point`, its inputs uploaded. */
  operands(point: QmmPoint, outputBytes?: number): Operands {
    const { inputs } = madeOf(point);
    return Object.fromEntries(
      qmm.operands(point).map((operand, i) => {
        const size = elementsOf(operand) * BYTES[operand.type];
        const input = operand.role === "in" ? inputs[i] : undefined;
        const memory = this.alloc(input ? size : outputBytes ?? size);
        if (input) memory.upload(input);
        return [operand.name, memory];
      }),
    );
  }

  /** An entry of a binary that was built. */
  program = (build: Build, entry: string) =>
    this.#scope.use(this.device.load(binaries.get(buildText(build))!))
      .program(entry);

  /** Runs `kernel` and gives the bytes of y. */
  async run(
    kernel: Kernel<QmmPoint>,
    { point, config, bytes }: {
      point: QmmPoint;
      config: Values;
      bytes?: number;
    },
  ): Promise<Uint8Array<ArrayBuffer>> {
    const operands = this.operands(point, bytes);
    await Promise.all(kernel.builds(point, config).map((b) => built(b)));
    const plan = kernel.prepare({
      point,
      config,
      device: this.device,
      operands,
      program: this.program,
      alloc: (size) => this.alloc(size),
    });
    for (const step of [...plan.setup ?? [], ...plan.steps]) step.enqueue();
    return operands.y!.download();
  }

  [Symbol.dispose](): void {
    this.#scope.dispose();
  }
}

/** Inputs and right outputs of the points that tests come back to. */
const made = new WeakMap<
  QmmPoint,
  { inputs: readonly Uint8Array<ArrayBuffer>[]; right: Float64Array }
>();

/** The inputs of `point`, and what is right for them. */
export function madeOf(point: QmmPoint) {
  const known = made.get(point);
  if (known) return known;
  const inputs = qmm.inputs(point, INPUTS);
  const all = qmm.reference(point, inputs).all(0);
  const fresh = { inputs, right: all };
  made.set(point, fresh);
  return fresh;
}

/** Fails unless `y` is right to the operation's tolerance. */
export function assertRight(
  point: QmmPoint,
  y: Uint8Array<ArrayBuffer>,
  what: string,
): void {
  const { right } = madeOf(point);
  const { rtol, atol } = qmm.tolerance(point);
  decode(y, point.type).forEach((got, i) =>
    ok(
      Math.abs(got - right[i]!) <= atol + rtol * Math.abs(right[i]!),
      `${what}: ${got} at ${i} is not ${right[i]}`,
    )
  );
}

/** A point, for messages. */
export function title(point: QmmPoint): string {
  const { m, n, k, type, transposed } = point;
  const format = formatName(point);
  return `${type} ${transposed ? "nt" : "nn"} ${m}x${n}x${k} ${format}`;
}
