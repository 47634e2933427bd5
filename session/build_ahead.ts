/**
 * Compiles the kernels of cases before they are asked for, on all cores.
 *
 * @module
 */

import {
  type Build,
  buildText,
  type DeviceInfo,
} from "../bench/device/device.ts";
import { configsOf, decide } from "../bench/tune/decide.ts";
import { CaseError } from "../bench/model/errors.ts";
import type { Values } from "../bench/model/grid.ts";
import { contenders, ordered } from "../bench/tune/levels.ts";
import type { Event } from "../bench/worker/protocol.ts";
import { type BenchContext, BUILD_MS } from "../bench/measure/context.ts";
import { DEFAULTS } from "../bench/model/settings.ts";
import { isPythonCase } from "../bench/model/peer.ts";
import type { Case } from "../bench/model/suite.ts";
import { keyOf } from "../bench/row/row.ts";
import { hintsFor } from "./hints.ts";
import { callSuite } from "./suite_calls.ts";

/** The level whose configs are built of a kernel of which none is recorded. */
const UNRECORDED_LEVEL = 1;

/**
 * The compilations of cases, in the order of their first use. A kernel that does not
 * compile is its own row's matter, later.
 */
export class BuildAhead implements AsyncDisposable {
  readonly #lanes: readonly Promise<void>[];
  readonly #context: BenchContext;
  readonly #atWork = new Set<Promise<void>>();
  /** Resolved at the end of a pause. */
  #resumed: Promise<void> | undefined;
  #left: number;
  #stopped = false;

  /** Starts to compile for the configs that `cases` may need, on its share of the cores. */
  constructor(
    cases: readonly Case[],
    { context, emit, workers = 1 }: {
      readonly context: BenchContext;
      readonly emit: (event: Event) => void;
      /** Workers that share the cores. */
      readonly workers?: number | undefined;
    },
  ) {
    this.#context = context;
    const builds = distinctBuilds(
      cases,
      context.device.info,
      (c) => configsOf(decide(c.follows ?? c, context)),
    );
    const left = builds.values();
    const total = this.#left = builds.length;
    // The first may take a while, and is to be waited for knowingly.
    if (total > 0) emit({ event: "build", done: 0, total });
    const compileNext = async () => {
      while (true) {
        while (this.#resumed) await this.#resumed;
        if (this.#stopped) return;
        const { value: build, done } = left.next();
        if (done) return;
        const work = compile(build, context);
        this.#atWork.add(work);
        await work;
        this.#atWork.delete(work);
        emit({ event: "build", done: total - --this.#left, total });
      }
    };
    this.#lanes = Array.from(
      { length: Math.ceil(navigator.hardwareConcurrency / workers) },
      compileNext,
    );
    // Whoever waits for it is told of a failure; until then it has a handler.
    for (const lane of this.#lanes) lane.catch(() => {});
  }

  /** True until everything is compiled. */
  get isBusy(): boolean {
    return this.#left > 0;
  }

  /** Waits for all of them. */
  async done(): Promise<void> {
    await this.#context.ledger.count("build", () => Promise.all(this.#lanes));
  }

  /**
   * Waits for those at work, and starts no more until what it returns is disposed of.
   *
   * @throws {UserError} Where the cache cannot keep what was compiled.
   */
  async pause(): Promise<Disposable> {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#resumed = promise;
    const { ledger, pulse } = this.#context;
    await ledger.count(
      "build",
      () => pulse.during(Promise.all(this.#atWork), BUILD_MS),
    );
    return {
      [Symbol.dispose]: () => {
        this.#resumed = undefined;
        resolve();
      },
    };
  }

  /**
   * Starts no more, and waits for those at work. A failure is told by {@linkcode done} and
   * {@linkcode pause}, and by the cache to whoever needs that kernel.
   */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#stopped = true;
    await Promise.allSettled(this.#atWork);
  }
}

/** Brings `build` into the cache, unless it does not compile. */
async function compile(
  build: Build,
  { options: { cache, backend }, device }: BenchContext,
): Promise<void> {
  try {
    // Not through the context: its ledger follows one thing at a time.
    await cache.get(build, backend, device.info.arch);
  } catch (error) {
    if (!(error instanceof CaseError)) throw error;
  }
}

/**
 * Every translation unit that `cases` need, once.
 *
 * @param configs The configs of a case that count. @default {those that the model puts first}
 */
export function distinctBuilds(
  cases: readonly Case[],
  info: DeviceInfo,
  configs: (c: Case) => readonly Values[] = (c) => first(c, info),
): Build[] {
  const all = new Map<string, Build>();
  for (const c of cases) {
    for (const build of buildsOf(c, info, configs)) {
      all.set(buildText(build), build);
    }
  }
  return [...all.values()];
}

/**
 * The configs that a search at the default level times; of a kernel of which none is recorded only
 * the first, as all would not fit into an archive.
 */
function first(c: Case, info: DeviceInfo): Values[] {
  const legal = [...c.candidates(info)].filter(({ illegal }) =>
    illegal === undefined
  );
  const hint = hintsFor(info).of(keyOf(c), legal);
  const level = hint === undefined ? UNRECORDED_LEVEL : DEFAULTS.level;
  return contenders(ordered(legal, hint), level, hint)
    .map(({ config }) => config);
}

/** The builds that `c` needs; none where its kernel cannot tell. */
function buildsOf(
  c: Case,
  info: DeviceInfo,
  configs: (c: Case) => readonly Values[],
): Build[] {
  try {
    const builds = callSuite(() =>
      isPythonCase(c) || c.unsupported(info) !== undefined
        ? []
        : configs(c).flatMap((config) => [...c.builds(config)])
    );
    // Whatever a user's kernel gives in the place of a URL fails here, not among others'.
    builds.forEach(buildText);
    return builds;
  } catch {
    // A user's kernel may throw anything: it does so again when its case is run, and
    // that row says it. The other cases are to be built all the same.
    return [];
  }
}
