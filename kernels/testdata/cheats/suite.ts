/**
 * The suite of kernels that cheat: `mnkbench bench --suite kernels/testdata/cheats/suite.ts`.
 *
 * @module
 */

import {
  type Arg,
  type Build,
  defineKernel,
  defineLaunch,
  defineSuite,
  type Device,
  type Kernel,
  matmul,
  type MatmulPoint,
  mem,
  type Memory,
  type Operands,
  type Step,
} from "mnkbench";
import { ownStream } from "./streams.ts";
import { type Cheat, CHEATS, HONEST, type Place } from "./table.ts";

/** The sources of the cheats. */
export const SOURCES = {
  cpu: new URL("./cheats.c", import.meta.url),
  cuda: new URL("./cheats.cu", import.meta.url),
} as const;

const entryOf = (name: string) => name.replaceAll("-", "_");

/** The parts of a cheat that its kernel is made of. */
type Named = Pick<Cheat, "name" | "notes" | "type">;

/** Says that a cheat for operands of `type` is not one for `point`. */
function otherType(point: MatmulPoint, type: Cheat["type"]) {
  const own = type ?? "f32";
  return point.type === own ? undefined : `it is for ${own}`;
}

/** Makes the CPU kernel `name`. */
function inC({ name, type }: Named): Kernel<MatmulPoint> {
  return defineLaunch(matmul, {
    name,
    backend: "cpu",
    unsupported: (point) => otherType(point, type),
    source: SOURCES.cpu,
    entry: entryOf(name),
  });
}

/** Bytes that a call of the CUDA kernel `leak` takes. */
const LEAK = 1 << 20;
/** Calls that are honest, as in the sources. */
const LATER = 4;

/** Makes the CUDA kernel `name`. */
function inCuda({ name, notes, type }: Named) {
  const build: Build = { source: SOURCES.cuda, defines: {} };
  // The output of the first set of operands, which is prepared first.
  const first = new WeakMap<Device, Memory>();
  return defineKernel(matmul, {
    name,
    backend: "cuda",
    idea: "one launch",
    unsupported: (point, { driver }) =>
      !notes.emulator && driver.startsWith("emulator")
        ? "it needs a GPU"
        : otherType(point, type),
    builds: () => [build],
    prepare({ point, operands, device, program, alloc }) {
      const { m, n, k } = point;
      if (!first.has(device)) first.set(device, operands.C!);
      const args = [
        ...matmul.args(point, operands),
        mem(alloc(4 * (64 + Math.max(m, k) * n))),
        mem(first.get(device)!),
      ];
      const entry = name in BY_HOST ? HONEST : entryOf(name);
      const blocks = name === "evict-last" ? Math.ceil(m * n / 256) : 1;
      const step = program(build, entry).step(args, {
        grid: [blocks, 1, 1],
        block: [256, 1, 1],
      });
      const enqueue = BY_HOST[name]?.({ step, args, device, operands });
      return {
        steps: enqueue ? [{ label: name, capturable: false, enqueue }] : [step],
      };
    },
  });
}

/** What the steps of cheats by the host are made of. */
interface Host {
  readonly step: Step;
  readonly args: readonly Arg[];
  readonly device: Device;
  readonly operands: Operands;
}

/** The step of each cheat that is not the kernel's but its host's. */
const BY_HOST: Readonly<Record<string, (host: Host) => () => void>> = {
  leak: ({ step, device }) => () => {
    step.enqueue();
    device.alloc(LEAK);
  },
  "another-stream": ({ step, args }) => {
    const stream = ownStream(SOURCES.cuda, "late", args);
    let calls = 0;
    return () => calls++ < LATER ? step.enqueue() : stream.launch();
  },
  "access-policy-window": ({ step, args, operands }) => {
    const stream = ownStream(SOURCES.cuda, "touch", args);
    const { address, bytes } = operands.B!;
    stream.persist(address, bytes);
    return () => {
      step.enqueue();
      stream.launch();
      // What it reads is freed after a call.
      stream.wait();
    };
  },
};

/** The cheats at one of `places`, and the honest kernel after all that they leave behind. */
const named = (places: readonly Place[]): readonly Named[] => [
  ...CHEATS.filter(({ notes }) => places.some((place) => notes[place])),
  { name: HONEST, notes: { emulator: /^$/ } },
];

export default defineSuite({
  name: "cheats",
  title: "Kernels that cheat",
  op: matmul,
  axes: { m: [16], n: [16], k: [64], type: ["f32", "bf16"] },
  fixed: { epilogue: "none" },
  kernels: [...named(["cpu"]).map(inC), ...named(["cuda"]).map(inCuda)],
  baselines: [HONEST],
});
