/**
 * What the tests of CPU kernels share: a device, binaries built once, a run.
 *
 * @module
 */

import { ok } from "node:assert/strict";
import { cpuBackend } from "../../../backends/cpu/cpu.ts";
import type { Build } from "../../../bench/device/device.ts";
import type { Memory } from "../../../bench/device/queue.ts";
import { BYTES, decode } from "../../../bench/model/dtype.ts";
import { CaseError } from "../../../bench/model/errors.ts";
import type { Values } from "../../../bench/model/grid.ts";
import type { InputOptions } from "../../../bench/model/inputs.ts";
import type { Kernel } from "../../../bench/model/kernel_spec.ts";
import { elementsOf } from "../../../bench/model/problem.ts";
import { buildText } from "../../../bench/measure/prepared_plan.ts";
import { groupedMatmul } from "../op.ts";
import type { GroupedPoint } from "../point.ts";

const backend = cpuBackend();
/** This machine. */
export const info = backend.find().devices[0]!;

/** Whether anything but TypeScript can run. */
export const hasCompiler = compiles();

function compiles(): boolean {
  try {
    backend.compiler(info.arch);
    return true;
  } catch (error) {
    if (error instanceof CaseError) return false;
    throw error;
  }
}

/** The end of the names of tests that need a compiler. */
export const skip = hasCompiler ? "" : " (ignored: no C compiler)";

const folder = Deno.makeTempDirSync();
globalThis.addEventListener(
  "unload",
  () => Deno.removeSync(folder, { recursive: true }),
);
const compiled = new Map<string, Promise<string>>();

/** The binary of `build`, compiled once. */
async function binaryOf(build: Build): Promise<string> {
  const key = buildText(build);
  const binary = `${folder}/${build.source.pathname.split("/").at(-1)}.so`;
  const done = compiled.get(key) ??
    backend.compiler(info.arch).compile(build, binary);
  compiled.set(key, done);
  await done;
  return binary;
}

/** How a kernel is run. */
export interface Wish {
  readonly point: GroupedPoint;
  readonly config?: Values;
  readonly options: InputOptions;
  /** Bytes of an element of C. @default {2} */
  readonly size?: number;
  /** Changes the stored inputs, by operand name, before the run. */
  change?(name: string, bytes: Uint8Array<ArrayBuffer>): void;
}

/** Runs `kernel` and gives the bytes of each C. */
export async function run(
  kernel: Kernel<GroupedPoint>,
  { point, config = {}, options, size = BYTES.f16, change }: Wish,
): Promise<Uint8Array<ArrayBuffer>[]> {
  const binaries = new Map<string, string>();
  for (const build of kernel.builds(point, config)) {
    binaries.set(buildText(build), await binaryOf(build));
  }
  using scope = new DisposableStack();
  const device = scope.use(backend.open(info));
  const alloc = (bytes: number): Memory => {
    const memory = scope.use(device.alloc(bytes));
    memory.fill(0xff);
    return memory;
  };
  const inputs = [...groupedMatmul.inputs(point, options)];
  const operands = groupedMatmul.operands(point).map((operand) => {
    const input = operand.role === "in" ? inputs.shift() : undefined;
    const memory = alloc(input?.length ?? elementsOf(operand) * size);
    if (input) {
      change?.(operand.name, input);
      memory.upload(input);
    }
    return [operand.name, memory] as const;
  });
  const plan = kernel.prepare({
    point,
    config,
    device,
    operands: Object.fromEntries(operands),
    program: (build, entry) =>
      scope.use(device.load(binaries.get(buildText(build))!)).program(entry),
    alloc,
  });
  for (const step of plan.steps) step.enqueue();
  return operands.filter(([name]) => name.startsWith("C"))
    .map(([, memory]) => memory.download());
}

/** Fails unless every C is right to the operation's tolerance. */
export function assertRight(
  outputs: readonly Uint8Array<ArrayBuffer>[],
  { point, options }: Wish,
): void {
  const right = groupedMatmul.reference(
    point,
    groupedMatmul.inputs(point, options),
  );
  const { rtol, atol } = groupedMatmul.tolerance(point);
  outputs.forEach((bytes, output) => {
    const want = right.all(output);
    decode(bytes, "f16").forEach((x, i) =>
      ok(
        Math.abs(x - want[i]!) <= atol + rtol * Math.abs(want[i]!),
        `C${output} of ${
          groupedMatmul.key(point).params
        }: ${x} at ${i} is not ${want[i]}`,
      )
    );
  });
}
