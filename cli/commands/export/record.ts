/**
 * Records what a kernel launches at a point, without a device: launches with arguments that name
 * operands and parts of a workspace instead of addresses.
 *
 * @module
 */

import {
  encodingOf,
  type TensorEncoding,
} from "../../../backends/shared/driver/tensor_map.ts";
import {
  type Build,
  buildText,
  type Device,
  type DeviceInfo,
} from "../../../bench/device/device.ts";
import type {
  Arg,
  LaunchShape,
  Memory,
  Step,
} from "../../../bench/device/queue.ts";
import { POISON } from "../../../bench/measure/assert_close.ts";
import { blame, CaseError } from "../../../bench/model/errors.ts";
import { formatValues, type Values } from "../../../bench/model/grid.ts";
import { storedBytes } from "../../../bench/model/problem.ts";
import type { Case } from "../../../bench/model/suite.ts";

/** Memory that an argument names: an operand, or a part of the workspace. */
export type Place =
  | { readonly operand: string }
  /** Bytes that any launch may overwrite. */
  | { readonly part: "scratch" }
  /** Bytes that have a value before the first launch, and have it again after each. */
  | { readonly part: "kept"; readonly byte: number };

/** An argument; `N` are numbers that may depend on M. */
export type PlannedArg<N> =
  | { readonly kind: "int32" | "int64"; readonly value: N }
  /** The bits of a value that does not depend on M. */
  | { readonly kind: "bits"; readonly value: string }
  | { readonly kind: "pointer"; readonly at: Place; readonly value: N }
  | {
    readonly kind: "map";
    readonly at: Place;
    readonly value: N;
    readonly map: PlannedMap<N>;
  };

/** A tensor map of memory that an argument names. */
export interface PlannedMap<N>
  extends Omit<TensorEncoding, "dims" | "strides"> {
  readonly dims: readonly N[];
  readonly strides: readonly N[];
}

/** One launch. */
export interface PlannedStep<N> {
  readonly build: Build;
  readonly entry: string;
  readonly grid: readonly N[];
  readonly shape: Omit<LaunchShape, "grid">;
  readonly args: readonly PlannedArg<N>[];
}

/** All launches of one call. */
export interface LaunchPlan<N> {
  /** The kernel and its config, for readers. */
  readonly note: string;
  readonly steps: readonly PlannedStep<N>[];
  /** Bytes of the parts of the workspace. */
  readonly scratch: N;
  readonly kept: readonly (readonly [byte: number, bytes: number])[];
}

/** Returns `plan` with `change(n)` in the place of each number that may depend on M. */
export function mapPlan<A, B>(
  plan: LaunchPlan<A>,
  change: (value: A) => B,
): LaunchPlan<B> {
  const arg = (one: PlannedArg<A>): PlannedArg<B> => {
    if (one.kind === "bits") return one;
    const value = change(one.value);
    if (one.kind !== "map") return { ...one, value };
    const { dims, strides, ...rest } = one.map;
    const map = {
      ...rest,
      dims: dims.map(change),
      strides: strides.map(change),
    };
    return { ...one, value, map };
  };
  return {
    ...plan,
    scratch: change(plan.scratch),
    steps: plan.steps.map((step) => ({
      ...step,
      grid: step.grid.map(change),
      args: step.args.map(arg),
    })),
  };
}

/** Every part of a workspace starts at a multiple of so many bytes, as memory of a device does. */
const ALIGNMENT = 256;

function refuse(why: string): never {
  throw new CaseError("unsupported", why);
}

/** Bytes that were asked for. */
interface Room {
  readonly bytes: number;
  readonly operand?: string;
  /** The value that was asked for. */
  readonly byte?: number | undefined;
}

/** Memory of no device. */
class NamedMemory implements Memory {
  constructor(
    readonly room: Room,
    readonly base: bigint,
    readonly offset: number,
    readonly bytes: number,
  ) {}
  get address(): bigint {
    return this.base + BigInt(this.offset);
  }
  slice(offset: number, bytes: number): Memory {
    return new NamedMemory(this.room, this.base, this.offset + offset, bytes);
  }
  upload(): never {
    return refuse("it uploads tables, for which an export has no place");
  }
  fill(): never {
    return refuse("it fills memory, for which an export has no step");
  }
  copyFrom(): never {
    return refuse("it copies memory, for which an export has no step");
  }
  download(): never {
    throw new Error("prepare() reads no memory");
  }
  [Symbol.dispose](): void {}
}

/** A launch as it was queued. */
interface Recorded {
  readonly build: Build;
  readonly entry: string;
  readonly args: readonly Arg[];
  readonly shape: LaunchShape;
}

/** A tensor map as it was asked for. */
interface RecordedMap {
  readonly memory: NamedMemory;
  readonly encoding: TensorEncoding;
}

/** What plans are recorded for. */
export interface PlanTarget {
  /** A device such as this. */
  readonly info: DeviceInfo;
  /** Whether the first launch of a plan starts before its predecessor ends, where its kernel can. */
  readonly pdl: boolean;
}

/** Returns whether a call starts before its predecessor ends. */
export function startsEarly<N>(
  { steps: [first] }: Pick<LaunchPlan<N>, "steps">,
): boolean {
  return first?.shape.overlap ?? false;
}

/**
 * Records the plan of `c` at `config` for `target`.
 *
 * @throws {CaseError} Where the kernel cannot run, or needs more than launches: a library, a table
 * on the device, or addresses in its arithmetic.
 */
export function recordPlan(
  c: Case,
  config: Values,
  target: PlanTarget,
): LaunchPlan<number> {
  const [plan, other] = [0, 1].map((layout) =>
    recordAt(c, { ...target, config, layout })
  );
  if (textOf(plan!) !== textOf(other!)) {
    refuse("its launch depends on the addresses of operands");
  }
  return plan!;
}

/** Returns all of a plan as one string, equal for equal plans. */
export function textOf<N>(plan: LaunchPlan<N>): string {
  return JSON.stringify({
    ...plan,
    steps: plan.steps.map((step) => ({
      ...step,
      build: buildText(step.build),
    })),
  });
}

function absent(): never {
  throw new Error("prepare() takes memory and programs from its context");
}

/** Makes a device that has neither memory nor programs, and keeps its tensor maps in `maps`. */
function recordingDevice(
  info: PlanTarget["info"],
  maps: Map<Uint8Array, RecordedMap>,
): Device {
  return {
    info,
    alloc: absent,
    load: absent,
    interval: absent,
    synchronize: absent,
    blasReason: "it calls a library, which an export does not have",
    ...(info.tensorMaps
      ? {
        tensorMap(of: Memory, shape) {
          const bytes = new Uint8Array(128);
          const encoding = encodingOf(of, shape);
          maps.set(bytes, { memory: of as NamedMemory, encoding });
          return { kind: "bytes", bytes, align: 64 };
        },
      }
      : {}),
    [Symbol.dispose]: absent,
  };
}

function recordAt(
  c: Case,
  { config, info, pdl, layout }: PlanTarget & {
    readonly config: Values;
    /** Which of two sets of addresses. */
    readonly layout: number;
  },
): LaunchPlan<number> {
  let next = 1 + layout;
  const memory = (room: Room) => {
    const base = BigInt(next) * (1n << 40n) + BigInt(layout * 4096);
    next += 1 + layout;
    return new NamedMemory(room, base, 0, room.bytes);
  };
  const launches = new Map<Step, Recorded>();
  const maps = new Map<Uint8Array, RecordedMap>();
  const rooms: NamedMemory[] = [];
  const operands = Object.fromEntries(
    c.problem.operands.map((operand) => [
      operand.name,
      memory({
        operand: operand.name,
        bytes: storedBytes(operand),
      }),
    ]),
  );
  const plan = blame("prepare the kernel", () =>
    c.prepare({
      config,
      device: recordingDevice(info, maps),
      operands,
      program: (build, entry) => ({
        step(args, shape) {
          const step = { label: entry, capturable: true, enqueue: absent };
          launches.set(step, { build, entry, args, shape });
          return step;
        },
      }),
      alloc(bytes, byte) {
        const made = memory({ bytes, byte });
        rooms.push(made);
        return made;
      },
    }));
  if (plan.setup?.length) {
    refuse("it repacks its operands before the first call");
  }
  const recorded = plan.steps.map((step) =>
    launches.get(step) ?? refuse(`its step ${step.label} is no launch`)
  );
  const { placeOf, ...parts } = partsOf(rooms, recorded);
  return {
    note: `${c.kernel} ${formatValues(config)}`.trimEnd(),
    ...parts,
    steps: recorded.map(({ build, entry, args, shape }, i) => {
      const { grid, ...rest } = shape;
      // Later launches of a call overlap the one before where their kernel says so.
      const early = pdl && i === 0 && shape.waits === true;
      return {
        build,
        entry,
        grid,
        shape: early ? { ...rest, overlap: true } : rest,
        args: args.map((arg) => plannedArg(arg, { maps, placeOf, early })),
      };
    }),
  };
}

/** An argument's memory, and bytes beyond its start. */
type PlaceOf = (
  memory: Memory,
) => { readonly at: Place; readonly value: number };

/**
 * Divides the workspace. What a cooperative launch gets, and what was to have a value, is kept:
 * blocks that wait for one another find the mailbox as the launch before has left it.
 */
function partsOf(
  rooms: readonly NamedMemory[],
  launches: readonly Recorded[],
): Pick<LaunchPlan<number>, "scratch" | "kept"> & {
  readonly placeOf: PlaceOf;
} {
  const waited = new Set(
    launches.filter(({ shape }) => shape.cooperative).flatMap(({ args }) =>
      args.flatMap((arg) =>
        arg.kind === "memory" ? [(arg.memory as NamedMemory).room] : []
      )
    ),
  );
  const starts = new Map<Room, { at: Place; start: number }>();
  const kept = new Map<number, number>();
  let scratch = 0;
  for (const { room } of rooms) {
    const whole = Math.ceil(room.bytes / ALIGNMENT) * ALIGNMENT;
    if (room.byte === undefined && !waited.has(room)) {
      starts.set(room, { at: { part: "scratch" }, start: scratch });
      scratch += whole;
      continue;
    }
    const { byte = POISON } = room;
    const start = kept.get(byte) ?? 0;
    starts.set(room, { at: { part: "kept", byte }, start });
    kept.set(byte, start + whole);
  }
  const placeOf: PlaceOf = (memory) => {
    const { room, offset } = memory as NamedMemory;
    if (room.operand !== undefined) {
      return { at: { operand: room.operand }, value: offset };
    }
    const { at, start } = starts.get(room)!;
    return { at, value: start + offset };
  };
  return { scratch, kept: [...kept].toSorted(([a], [b]) => a - b), placeOf };
}

function plannedArg(
  arg: Arg,
  { maps, placeOf, early }: {
    readonly maps: ReadonlyMap<Uint8Array, RecordedMap>;
    readonly placeOf: PlaceOf;
    /** Whether the launch may start before its predecessor ends. */
    readonly early: boolean;
  },
): PlannedArg<number> {
  switch (arg.kind) {
    case "memory":
      return { kind: "pointer", ...placeOf(arg.memory) };
    case "i64":
      return { kind: "int64", value: Number(arg.value) };
    case "early":
      return { kind: "int32", value: Number(early) };
    case "i32":
    case "u32":
      return { kind: "int32", value: arg.value };
    case "f32": {
      const [bits] = new Uint32Array(Float32Array.of(arg.value).buffer);
      return { kind: "bits", value: `${bits}` };
    }
    case "f64": {
      const [bits] = new BigInt64Array(Float64Array.of(arg.value).buffer);
      return { kind: "bits", value: `${bits}` };
    }
    case "bytes": {
      const map = maps.get(arg.bytes);
      if (!map) return refuse("it passes a struct, which may hold addresses");
      const { dims, strides, ...rest } = map.encoding;
      return {
        kind: "map",
        ...placeOf(map.memory),
        map: { ...rest, dims, strides },
      };
    }
  }
}
