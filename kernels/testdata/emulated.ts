/**
 * One kernel at one config on an emulated GPU, as it is or as a mutant.
 *
 * @module
 */

import { CallError } from "../../backends/shared/driver/checked.ts";
import {
  cudaControls,
  emulatedCuda,
} from "../../backends/testdata/cuda_mocks.ts";
import { emulatedHip, hipControls } from "../../backends/testdata/hip_mocks.ts";
import {
  emulatedMetal,
  metalControls,
} from "../../backends/testdata/metal_mocks.ts";
import type { Build, Device, DeviceInfo } from "../../bench/device/device.ts";
import { i64, mem, type Memory } from "../../bench/device/queue.ts";
import { compare } from "../../bench/measure/assert_close.ts";
import type { Values } from "../../bench/model/grid.ts";
import type { Fill } from "../../bench/model/inputs.ts";
import type { Kernel } from "../../bench/model/kernel_spec.ts";
import type { Op } from "../../bench/model/op.ts";
import { type Operand, storedBytes } from "../../bench/model/problem.ts";
import { ACTIVATIONS } from "../common/operands.ts";
import { madeOf } from "./answers.ts";
import { mutantsOf } from "./cases.ts";

const TOUCH: Build = {
  source: new URL("./touch.cu", import.meta.url),
  defines: {},
};

/** A kernel at a point and a config, and the runs to make. */
export interface Emulated<P> {
  readonly op: Op<P>;
  readonly kernel: Kernel<P>;
  readonly point: P;
  readonly config: Values;
  /** Orders of the scheduler, one run each. @default {[1, 2]} */
  readonly seeds?: readonly number[];
  /** @default {"normal"} */
  readonly fill?: Fill;
  /** The device that the kernel is told of, made of the real one. @default {the same} */
  readonly on?: (device: Device) => Device;
  /** A mistake that is switched on in the kernel. @default {none} */
  readonly mutant?: string;
}

/** The backends, the architectures and the controls of the emulated APIs. */
const APIS = {
  cuda: {
    backend: emulatedCuda,
    arch: "sm_90a",
    controls: cudaControls,
  },
  hip: {
    backend: emulatedHip,
    arch: "gfx942",
    controls: hipControls,
  },
  metal: {
    backend: emulatedMetal,
    arch: "applegpu_g15s",
    controls: metalControls,
  },
} as const;

const folder = new Map<"path", string>();
const built = new Map<string, Promise<string>>();

/** The API that a kernel is for. */
function apiOf(backend: string): keyof typeof APIS {
  if (backend === "cuda" || backend === "hip" || backend === "metal") {
    return backend;
  }
  throw new Error(`${backend} is not emulated`);
}

/** A folder that is there as long as the process. */
function scratch(): string {
  let path = folder.get("path");
  if (path === undefined) {
    const made = path = Deno.makeTempDirSync({ prefix: "emulated" });
    folder.set("path", made);
    addEventListener(
      "unload",
      () => Deno.removeSync(made, { recursive: true }),
    );
  }
  return path;
}

/** The path of the emulator's binary of `build`, compiled once. */
export function binaryOf(
  build: Build,
  backend: string,
  arch: string = APIS[apiOf(backend)].arch,
): Promise<string> {
  const key = JSON.stringify([arch, build.source, build.defines]);
  let made = built.get(key);
  if (made === undefined) {
    const binary = `${scratch()}/${built.size}.binary`;
    const compiler = APIS[apiOf(backend)].backend().compiler(arch);
    made = compiler.compile(build, binary).then(() => binary);
    built.set(key, made);
  }
  return made;
}

/** Those of `builds` in which `mutant` is, with its define; the others as they are. */
function mutated(builds: readonly Build[], mutant: string): readonly Build[] {
  if (!builds.some(({ source }) => mutantsOf(source).has(mutant))) {
    throw new Error(`No source has MUTANT(${mutant})`);
  }
  return builds.map((build) =>
    mutantsOf(build.source).has(mutant)
      ? { ...build, defines: { ...build.defines, [`MUTANT_${mutant}`]: 1 } }
      : build
  );
}

/**
 * Runs a kernel on an emulated device. Returns what is wrong with the outputs, or the emulator's
 * error; empty where all is right in every order.
 */
export async function emulate<P>(
  emulated: Device,
  { op, kernel, point, config, mutant, ...how }: Emulated<P>,
): Promise<string> {
  const { seeds = [1, 2], fill = "normal", on = (device) => device } = how;
  const device = on(emulated);
  const mock = APIS[apiOf(kernel.backend)].controls();
  using stack = new DisposableStack();
  const builds = kernel.builds(point, config);
  const binaries = await Promise.all(
    (mutant === undefined ? builds : mutated(builds, mutant))
      .map((build) => binaryOf(build, kernel.backend, emulated.info.arch)),
  );
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
  const sets = [7, 8].map((seed) => madeOf(op, point, { seed, fill }));
  const memories = Object.fromEntries([
    ...ins.map(({ name }, i) => [name, alloc(sets[0]!.inputs[i]!.length)]),
    ...outs.map((out) => [out.name, alloc(storedBytes(out))]),
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
  const early = plan.steps[0]?.early;
  const touched = early
    ? ins.filter(({ name }) => ACTIVATIONS.has(name)).map(({ name }) =>
      memories[name]!
    )
    : [];
  const touch = touched.length > 0
    ? stack.use(
      device.load(
        await binaryOf(TOUCH, kernel.backend, emulated.info.arch),
      ),
    ).program("touch")
    : undefined;
  const touches = touched.map((memory) =>
    touch!.step([mem(memory), i64(memory.bytes)], {
      grid: [1, 1, 1],
      block: [32, 1, 1],
    })
  );
  const upload = (set: number) =>
    ins.forEach(({ name }, i) => memories[name]!.upload(sets[set]!.inputs[i]!));
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
      const [first, ...rest] = plan.steps;
      if (first?.early) {
        // As in a chain of calls: after one that writes the same outputs, or one of its inputs.
        for (const before of [undefined, ...touches]) {
          before?.enqueue();
          first.early();
          for (const step of rest) step.enqueue();
        }
      }
      device.synchronize();
    } catch (error) {
      if (!(error instanceof CallError)) throw error;
      mock.reset();
      return error.message;
    }
    for (const [i, operand] of outs.entries()) {
      const bytes = memories[operand.name]!.download();
      const { wrong } = compare(
        { operand, bytes, right: sets[set]!.right[i]! },
        kernel.tolerance?.(point, config) ?? op.tolerance(point),
      );
      if (wrong !== undefined) return `wrong: ${wrong}`;
    }
  }
  return "";
}

/** A config at a point where it is legal. */
export interface Extreme<P> {
  readonly point: P;
  readonly config: Values;
}

/**
 * Takes legal configs of `points`, each time the first of those that bring most values that no
 * one had yet: of a tunable, or of what `traits` says of a point.
 */
export function extremes<P>(
  kernel: Kernel<P>,
  { points, info, traits }: {
    readonly points: readonly P[];
    readonly info: DeviceInfo;
    readonly traits: (point: P) => readonly string[];
  },
): readonly Extreme<P>[] {
  const all = points
    .filter((point) => kernel.unsupported(point, info) === undefined)
    .flatMap((point) =>
      [...kernel.candidates(point, info)]
        .filter(({ illegal }) => illegal === undefined)
        .map(({ config }) => ({
          point,
          config,
          values: [
            ...Object.entries(config).map((entry) => entry.join("=")),
            ...traits(point),
          ],
        }))
    );
  const missing = new Set(all.flatMap(({ values }) => values));
  const taken: Extreme<P>[] = [];
  const news = (values: readonly string[]) =>
    values.filter((value) => missing.has(value)).length;
  while (missing.size > 0) {
    const best = all.reduce((best, next) =>
      news(next.values) > news(best.values) ? next : best
    );
    taken.push({ point: best.point, config: best.config });
    for (const value of best.values) missing.delete(value);
  }
  return taken;
}
