/**
 * The context in which cases run: an opened device with its instruments, binaries and settings, and
 * what consecutive cases share.
 *
 * @module
 */

import type { BinaryCache, Built } from "../device/binary_cache.ts";
import { calibrate } from "./calibrate.ts";
import { type Below, systemRandom } from "./changes.ts";
import type { Settings } from "../model/settings.ts";
import {
  type Backend,
  type Build,
  buildText,
  type Device,
  type Module,
} from "../device/device.ts";
import type { DType } from "../model/dtype.ts";
import type { Values } from "../model/grid.ts";
import { Instruments } from "../device/instruments.ts";
import { blame, CaseError } from "../model/errors.ts";
import { Ledger } from "./time_ledger.ts";
import type { Operands } from "../model/problem.ts";
import { OperandSet, referenceOf, type Right, roomOfSet } from "./operands.ts";
import { callOf } from "./sample_calls.ts";
import type { Event } from "../worker/protocol.ts";
import type { Calibration } from "./figures.ts";
import type { Plan } from "../model/kernel_spec.ts";
import { loweredBy } from "../row/row.ts";
import { POISON } from "./assert_close.ts";
import { Pulse } from "../worker/clock.ts";
import type { Problem, Runnable } from "../model/suite.ts";
import { Stopwatch, warm } from "./time.ts";
import { ConfigBook } from "../tune/config_book.ts";

/** The inputs of a context. */
export interface BenchContextOptions {
  readonly backend: Backend;
  readonly device: Device;
  readonly cache: BinaryCache;
  readonly settings: Settings;
  /** Names the run in its rows. */
  readonly run: string;
  /** The harness's version. */
  readonly harness: string;
  /** Known times of configs. @default {nothing} */
  readonly configs?: ConfigBook;
  /** Chooses what changes while kernels are timed. @default {the system's random numbers} */
  readonly below?: Below;
  /** Disturbances of the machine that were found, for the rows. @default {none} */
  readonly machine?: string;
  /** The date and time that rows carry, ISO 8601. */
  date(): string;
  /** Sends an event. */
  emit(event: Event): void;
}

/** A plan that is ready to run. Disposing it frees its memory. */
export interface Prepared extends Disposable {
  readonly plan: Plan;
  /** The binaries that it runs. */
  readonly built: readonly Built[];
  /** Queues the setup steps again, which depend on the inputs. `prepare()` queued them once. */
  setUp(): void;
  /**
   * Queues every step.
   *
   * @param early Whether the first may start before its predecessor ends. @default {false}
   */
  run(early?: boolean): void;
}

/**
 * Limits in milliseconds of the time that the device is left idle: between two readings of its clocks
 * (`look`), for one case and for all cases. A GPU lowers its clocks for a while after the large
 * GEMMs of the calibration; without a rest the first row of each recorded suite was affected.
 */
const REST_MS = { look: 100, one: 1000, all: 2000 };

/** The least warm-up before the calibration, and the most before a case, in milliseconds. */
const SESSION_WARM_MS = 150;
const CASE_WARM_MS = 200;
/** Milliseconds without a sign of life during a build: more than the time limit of compilers. */
export const BUILD_MS = 360_000;

/** An opened device, ready for cases. */
export class BenchContext implements Disposable {
  readonly ledger = new Ledger();
  readonly pulse = new Pulse(() => this.options.emit({ event: "alive" }));
  readonly stopwatch: Stopwatch;
  readonly configs: ConfigBook;
  /** Returns random numbers that a kernel must not foresee. */
  readonly below: Below;
  /** Queues the flush of the cache; queues nothing if the cache stays warm. */
  readonly flush: () => void;
  readonly #scope = new DisposableStack();
  readonly #built = new Map<string, Built>();
  readonly #modules = new Map<string, Module>();
  readonly #filler: () => void;
  #sets: OperandSet[] = [];
  #reference: Right | undefined;
  #restMs = REST_MS.all;
  /** The reason why kernels may keep lines in the cache through a flush; empty for none. */
  readonly persisting: string;
  #calibration: Calibration | undefined;

  private constructor(
    readonly options: BenchContextOptions,
    readonly instruments: Instruments,
  ) {
    const { device, settings } = options;
    this.stopwatch = this.#scope.use(
      new Stopwatch(device, instruments.nudge(), () => this.pulse.beat()),
    );
    this.#scope.use(instruments);
    this.#filler = instruments.filler();
    this.below = options.below ?? systemRandom();
    this.configs = options.configs ?? new ConfigBook();
    this.persisting = forbidPersisting(device);
    this.flush = settings.cache === "cold"
      ? instruments.flush(settings.flush)
      : () => {};
  }

  /** Loads the instruments and makes the context of an opened device. */
  static async open(options: BenchContextOptions): Promise<BenchContext> {
    return new BenchContext(
      options,
      await Instruments.open(options.device, options),
    );
  }

  /** The opened device. */
  get device(): Device {
    return this.options.device;
  }

  /** The settings of a run. */
  get settings(): Settings {
    return this.options.settings;
  }

  /** The device's limits, if they were measured. */
  get calibration(): Calibration | undefined {
    return this.#calibration;
  }

  /** Raises the clocks and measures the device's limits. */
  calibrate(types: readonly DType[]): Calibration {
    const { stopwatch, instruments, flush, settings, device } = this;
    return this.#calibration = this.ledger.count("calibrate", () => {
      warm(stopwatch, this.#filler, { leastMs: SESSION_WARM_MS });
      return calibrate({
        device,
        stopwatch,
        instruments,
        flush,
        types,
        timer: settings.timer,
        api: this.options.backend.name,
        shared: this.options.backend.shared ?? false,
        seed: settings.seed,
        fill: settings.fill,
      });
    });
  }

  /** Raises the clocks for one case: they fell while the host checked it. */
  warm(): void {
    this.ledger.count(
      "calibrate",
      () => warm(this.stopwatch, this.#filler, { mostMs: CASE_WARM_MS }),
    );
  }

  /** Leaves the device idle until it no longer lowers its clocks, within {@linkcode REST_MS}. */
  async rest(): Promise<void> {
    const { look, one } = REST_MS;
    const lowered = () =>
      loweredBy(this.device.telemetry?.().throttle ?? "") !== "";
    let left = Math.min(one, this.#restMs);
    do {
      if (left < look) return;
      left -= look;
      this.#restMs -= look;
      const idle = new Promise<void>((done) => setTimeout(done, look));
      await this.ledger.count("time", () => this.pulse.during(idle, look));
    } while (lowered());
  }

  /**
   * Returns `count` sets of operands of `problem`. They are kept for the next case of the same problem.
   *
   * @param alike Whether all sets have the elements of the first in the same order.
   * @throws {CaseError} `oom`, if there is no room.
   */
  operands(
    problem: Problem,
    count = 1,
    alike = false,
  ): readonly OperandSet[] {
    if (!this.hasOperands(problem)) this.dropOperands();
    this.#demandRoom(problem, count);
    const { seed, fill } = this.settings;
    const { placement } = this.options.backend;
    while (this.#sets.length < count) {
      const [first] = this.#sets;
      const number = alike ? undefined : this.#sets.length;
      const from = first ? { first, number } : { seed, fill };
      this.#sets.push(
        new OperandSet(problem, this.device, from, placement?.pageBytes),
      );
    }
    return this.#sets.slice(0, count);
  }

  /** Whether there are operands of `problem`. */
  hasOperands(problem: Problem): boolean {
    return this.#sets[0]?.problem === problem;
  }

  /** @throws {CaseError} `oom`, if there is no room for several sets, before any is made. */
  #demandRoom({ operands }: Problem, count: number): void {
    const more = count - this.#sets.length;
    const free = this.device.free?.() ?? Infinity;
    const { placement } = this.options.backend;
    const bytes = more * roomOfSet(operands, placement?.pageBytes);
    if (more < 2 || bytes <= free) return;
    throw new CaseError(
      "oom",
      `Cannot make ${count} sets of operands: ${more} take ${bytes} bytes and ${free} are free; time fewer calls at once`,
    );
  }

  /** Returns the reference outputs for the first set of operands of `problem`. */
  async reference(problem: Problem): Promise<Right> {
    const [set] = this.operands(problem);
    if (this.#reference === undefined) {
      // Whatever happens meanwhile is no kernel's or config's fault.
      this.options.emit({ event: "progress", note: "reference" });
      this.#reference = await referenceOf(set!, this);
      this.options.emit({ event: "progress", note: "" });
    }
    return this.#reference;
  }

  /** Frees the operands, if the next problem is another one or a kernel may have damaged them. */
  dropOperands(): void {
    for (const set of this.#sets) set[Symbol.dispose]();
    this.#sets = [];
    this.#reference = undefined;
  }

  /** Returns the binaries of `builds`, from the cache or compiled. */
  async build(builds: readonly Build[]): Promise<readonly Built[]> {
    const { cache, backend } = this.options;
    const { arch } = this.device.info;
    const wanted = new Map(builds.map((b) => [buildText(b), b]));
    // Hashing a source takes up to 0.5 ms, and each of many sets may have a plan.
    const missing = [...wanted].filter(([text]) => !this.#built.has(text));
    if (missing.length > 0) {
      const made = () =>
        Promise.all(missing.map(async ([text, build]) => {
          this.#built.set(text, await cache.get(build, backend, arch));
        }));
      await this.ledger.count(
        "build",
        () => this.pulse.during(made(), BUILD_MS),
      );
    }
    return builds.map((b) => this.#built.get(buildText(b))!);
  }

  /**
   * Builds `runnable`, prepares its plan and queues its setup. Disposing the result frees the memory
   * that it allocated.
   *
   * @throws {CaseError} As the compiler, the kernel's `prepare` and the device do.
   */
  async prepare(
    runnable: Runnable,
    { config, operands }: { config: Values; operands: Operands },
  ): Promise<Prepared> {
    const builds = blame(
      "name the kernel's sources",
      () => runnable.builds(config),
    );
    const built = await this.build(builds);
    const binaries = new Map(builds.map((b, i) => [buildText(b), built[i]!]));
    // Outside `blame()`: a full disk is no failure of the kernel.
    const copies = new Map(
      built.map((binary) => [binary.path, this.options.cache.copyOf(binary)]),
    );
    const { device, settings: { workspaceBytes = Infinity } } = this;
    using scope = new DisposableStack();
    let taken = 0;
    const plan = blame("prepare the kernel", () =>
      runnable.prepare({
        config,
        device,
        operands,
        program: (build, entry) => {
          const binary = binaries.get(buildText(build));
          if (binary) {
            return this.#module(binary, copies.get(binary.path)!).program(
              entry,
            );
          }
          throw new Error(
            `Cannot load ${build.source} with ${
              JSON.stringify(build.defines)
            }: the kernel's builds() does not name it`,
          );
        },
        alloc: (bytes, byte = POISON) => {
          taken += bytes;
          if (taken > workspaceBytes) {
            throw new CaseError(
              "unsupported",
              `It takes ${taken} bytes of workspace, and ${workspaceBytes} are allowed: raise --workspace`,
            );
          }
          const memory = scope.use(device.alloc(bytes));
          memory.fill(byte);
          return memory;
        },
      }));
    const queue = (steps: Plan["steps"] = [], early = false) => {
      for (const [i, step] of steps.entries()) {
        const call = callOf(step);
        blame(`run ${step.label}`, () => call(early && i === 0));
      }
    };
    queue(plan.setup);
    const owned = scope.move();
    return {
      plan,
      built,
      setUp: () => queue(plan.setup),
      run: (early) => queue(plan.steps, early),
      [Symbol.dispose]: () => owned.dispose(),
    };
  }

  #module(binary: Built, copy: string): Module {
    const known = this.#modules.get(binary.path);
    if (known) return known;
    const module = this.#scope.use(this.device.load(copy));
    this.#modules.set(binary.path, module);
    return module;
  }

  [Symbol.dispose](): void {
    this.dropOperands();
    this.#scope.dispose();
  }
}

/**
 * Reserves no part of the cache for persisting lines, which would survive a flush. This is done once
 * and not with each flush, because after cuCtxResetPersistingL2Cache launches of graphs take 1.8 µs
 * longer on an H200. See `docs/notes/2026-11-23-persisting-lines.md`.
 *
 * @returns The reason why that is not possible; empty if it is.
 */
function forbidPersisting({ persisting }: Device): string {
  try {
    persisting?.forbid();
    return "";
  } catch (error) {
    if (!(error instanceof CaseError)) throw error;
    return `kernels may keep lines in the cache through a flush: ${error.message}`;
  }
}
