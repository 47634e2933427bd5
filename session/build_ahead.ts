/**
 * Compiling what cases need, all cores at once, before they ask for it.
 *
 * @module
 */

import type { Build, DeviceInfo } from "../bench/device/device.ts";
import { configsOf, decide } from "../bench/tune/decide.ts";
import { CaseError } from "../bench/model/errors.ts";
import type { Values } from "../bench/model/grid.ts";
import { contenders } from "../bench/tune/levels.ts";
import type { Event } from "../bench/worker/protocol.ts";
import { buildText } from "../bench/measure/prepared_plan.ts";
import type { BenchContext } from "../bench/measure/context.ts";
import type { Case } from "../bench/model/suite.ts";

/** The level whose configs are built where nothing is going to be timed. */
const BUILT_LEVEL = 2;

/**
 * The compilations of cases, in the order of their first use. A kernel that does not
 * compile is its own row's matter, later.
 */
export class BuildAhead implements AsyncDisposable {
  readonly #all: Promise<unknown>;
  readonly #context: BenchContext;
  #stopped = false;

  /** Starts with what the configs that `cases` may need lack in the cache. */
  constructor(
    cases: readonly Case[],
    { context, emit }: { context: BenchContext; emit: (event: Event) => void },
  ) {
    this.#context = context;
    const { cache, backend } = context.options;
    const { info } = context.device;
    const builds = distinctBuilds(
      cases,
      info,
      (c) => configsOf(decide(c.follows ?? c, context)),
    );
    const left = builds.values();
    let done = 0;
    // The first may take a while, and is to be waited for knowingly.
    if (builds.length > 0) emit({ event: "build", done, total: builds.length });
    const lane = async () => {
      for (const build of left) {
        if (this.#stopped) return;
        try {
          // Not through the context: its ledger follows one thing at a time.
          await cache.get(build, backend, info.arch);
        } catch (error) {
          if (!(error instanceof CaseError)) throw error;
        }
        emit({ event: "build", done: ++done, total: builds.length });
      }
    };
    this.#all = Promise.all(
      Array.from({ length: navigator.hardwareConcurrency }, lane),
    );
    // Whoever waits for it hears of it; until then it is not unheard of.
    this.#all.catch(() => {});
  }

  /** Waits for all of them. */
  async done(): Promise<void> {
    await this.#context.ledger.count("build", () => this.#all);
  }

  /** Starts no more, and waits for those at work. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#stopped = true;
    await this.#all;
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

/** Of `c` what a search begins with: all that it tries would not fit into an archive. */
function first(c: Case, info: DeviceInfo): Values[] {
  const legal = [...c.candidates(info)].filter(({ illegal }) =>
    illegal === undefined
  );
  return contenders(legal, BUILT_LEVEL).map(({ config }) => config);
}

/** What `c` needs built; nothing where its kernel cannot say. */
function buildsOf(
  c: Case,
  info: DeviceInfo,
  configs: (c: Case) => readonly Values[],
): Build[] {
  try {
    if (c.unsupported(info) !== undefined) return [];
    const builds = configs(c).flatMap((config) => [...c.builds(config)]);
    // Whatever a user's kernel gives in the place of a URL fails here, not among others'.
    builds.forEach(buildText);
    return builds;
  } catch {
    // A user's kernel may throw anything: it does so again when its case is run, and
    // that row says it. The other cases are to be built all the same.
    return [];
  }
}
