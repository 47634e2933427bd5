/**
 * One kernel at one config on an emulated GPU, its sources as they are or changed.
 *
 * @module
 */

import { dirname } from "node:path";
import { fileURLToPath } from "node:url";
import { CallError } from "../../backends/shared/driver/error.ts";
import {
  cudaControls,
  emulatedCuda,
} from "../../backends/testdata/cuda_mocks.ts";
import { emulatedHip, hipControls } from "../../backends/testdata/hip_mocks.ts";
import {
  emulatedMetal,
  metalControls,
} from "../../backends/testdata/metal_mocks.ts";
import type { Build, Device } from "../../bench/device/device.ts";
import type { Memory } from "../../bench/device/queue.ts";
import { compare } from "../../bench/measure/assert_close.ts";
import type { Values } from "../../bench/model/grid.ts";
import type { Fill } from "../../bench/model/inputs.ts";
import type { Kernel } from "../../bench/model/kernel_spec.ts";
import { BYTES } from "../../bench/model/dtype.ts";
import { type Op } from "../../bench/model/op.ts";
import { elementsOf, type Operand } from "../../bench/model/problem.ts";

/** A change of a source: the text `from`, which must be there once, becomes `to`. */
export interface Change {
  readonly file: string;
  readonly from: string;
  readonly to: string;
}

/** What to run. */
export interface Emulated<P> {
  readonly op: Op<P>;
  readonly kernel: Kernel<P>;
  readonly point: P;
  readonly config: Values;
  /** Orders of the scheduler, one run each. @default {[1, 2]} */
  readonly seeds?: readonly number[];
  /** @default {"normal"} */
  readonly fill?: Fill;
}

const ROOT = new URL("../../", import.meta.url);
/** Folders whose sources include one another. */
const FOLDERS = ["bench/formats", "kernels"];
/** What is emulated. */
const APIS = {
  cuda: {
    compiler: () => emulatedCuda().compiler("sm_90a"),
    controls: cudaControls,
  },
  hip: {
    compiler: () => emulatedHip().compiler("gfx942"),
    controls: hipControls,
  },
  metal: {
    compiler: () => emulatedMetal().compiler("applegpu_g15s"),
    controls: metalControls,
  },
} as const;

/** The device sources below `folder`, by their paths below the root. */
function* sources(folder: string): Generator<string> {
  for (const { name, isDirectory } of Deno.readDirSync(new URL(folder, ROOT))) {
    const path = `${folder}/${name}`;
    if (isDirectory) yield* sources(path);
    else if (/\.(cuh?|hip|metal|h)$/.test(name)) yield path;
  }
}

/** A folder of binaries for the emulator, of the sources with `change`. */
export class Workshop implements Disposable {
  readonly #folder = Deno.makeTempDirSync();
  readonly #built = new Map<string, Promise<string>>();
  #count = 0;

  /** @throws {Error} Where the changed text is not there once. */
  constructor(change?: Change, readonly api: keyof typeof APIS = "hip") {
    let changed = 0;
    for (const path of FOLDERS.flatMap((folder) => [...sources(folder)])) {
      let text = Deno.readTextFileSync(new URL(path, ROOT));
      if (change !== undefined && path.endsWith(`/${change.file}`)) {
        if (text.split(change.from).length === 2) {
          text = text.replace(change.from, () => change.to);
          changed++;
        }
      }
      Deno.mkdirSync(`${this.#folder}/${dirname(path)}`, { recursive: true });
      Deno.writeTextFileSync(`${this.#folder}/${path}`, text);
    }
    if (change !== undefined && changed !== 1) {
      throw new Error(`${change.file} does not have once: ${change.from}`);
    }
  }

  /** The binary of `build`, made once. */
  binary(build: Build): Promise<string> {
    const key = JSON.stringify([build.source, build.defines]);
    const known = this.#built.get(key);
    if (known) return known;
    const made = (async () => {
      const at = fileURLToPath(build.source).slice(fileURLToPath(ROOT).length);
      const source = new URL(`file://${this.#folder}/${at}`);
      const binary = `${this.#folder}/${this.#count++}.binary`;
      const compiler = APIS[this.api].compiler();
      await compiler.compile({ ...build, source }, binary);
      return binary;
    })();
    this.#built.set(key, made);
    return made;
  }

  [Symbol.dispose](): void {
    Deno.removeSync(this.#folder, { recursive: true });
  }
}

/**
 * What is wrong with the outputs, or what the emulator found; empty where all is right in
 * every order.
 */
export async function emulate<P>(
  device: Device,
  workshop: Workshop,
  { op, kernel, point, config, seeds = [1, 2], fill = "normal" }: Emulated<P>,
): Promise<string> {
  const mock = APIS[workshop.api].controls();
  using stack = new DisposableStack();
  const builds = kernel.builds(point, config);
  const binaries = await Promise.all(builds.map((b) => workshop.binary(b)));
  const modules = binaries.map((path) => stack.use(device.load(path)));
  const keys = builds.map((b) => JSON.stringify(b));
  const alloc = (bytes: number): Memory => {
    const memory = stack.use(device.alloc(bytes));
    memory.fill(0xff);
    return memory;
  };
  const operands = op.operands(point);
  const [ins, outs] = (["in", "out"] as const).map((role) =>
    operands.filter((operand) => operand.role === role)
  ) as [Operand[], Operand[]];
  const sets = [7, 8].map((seed) => op.inputs(point, { seed, fill }));
  const right = sets.map((inputs) => {
    const reference = op.reference(point, inputs);
    return outs.map((_, i) => reference.all(i));
  });
  const memories = Object.fromEntries([
    ...ins.map(({ name }, i) => [name, alloc(sets[0]![i]!.length)]),
    ...outs.map((out) => [out.name, alloc(elementsOf(out) * BYTES[out.type])]),
  ] as [string, Memory][]);
  const plan = kernel.prepare({
    point,
    config,
    device,
    operands: memories,
    alloc,
    program: (build, entry) =>
      modules[keys.indexOf(JSON.stringify(build))]!.program(entry),
  });
  const upload = (set: number) =>
    ins.forEach(({ name }, i) => memories[name]!.upload(sets[set]![i]!));
  upload(0);
  for (const step of plan.setup ?? []) step.enqueue();
  // Each order twice: what a run leaves behind must not matter to the next, on other inputs.
  for (const [run, seed] of seeds.flatMap((s) => [s, s]).entries()) {
    const set = plan.setup ? 0 : run % sets.length;
    upload(set);
    mock.seed(seed);
    for (const { name } of outs) memories[name]!.fill(0xff);
    try {
      for (const step of plan.steps) step.enqueue(); // some wait for the device
      device.synchronize();
    } catch (error) {
      if (!(error instanceof CallError)) throw error;
      mock.reset();
      return error.message;
    }
    for (const [i, operand] of outs.entries()) {
      const bytes = memories[operand.name]!.download();
      const { wrong } = compare(
        { operand, bytes, right: right[set]![i]! },
        kernel.tolerance?.(point, config) ?? op.tolerance(point),
      );
      if (wrong !== undefined) return `wrong: ${wrong}`;
    }
  }
  return "";
}
