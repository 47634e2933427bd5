/**
 * Kills commands at random moments and gives them again: nothing may be torn at any time, and
 * after the second end every result must be there, and nothing else.
 *
 * @module
 */

import { program, start, testdata } from "../../../cli/testdata/program.ts";
import { keyText } from "../../../bench/row/row.ts";
import { readSamples } from "../../../bench/row/samples.ts";
import { readTimings } from "../../../bench/tune/timing_cache.ts";
import { readRows } from "../../../session/read_rows.ts";
import { filesBelow } from "./damage.ts";
import { below, type Random, randomOf } from "./mutations.ts";

/** A command, in a folder that it has to itself. */
interface Victim {
  readonly args: readonly string[];
  /** Its share of the kills. */
  readonly share: number;
  /** Files and folders that are removed before it is killed: without them it has work to do. */
  readonly makes: readonly string[];
}

const FAST = ["--warmup", "0.1", "--rep", "0.5", "--backend", "cpu"];
const KEPT = ["--kernel-cache", "cache", "--timing-cache", "timings.json"];
const VICTIMS: Readonly<Record<string, Victim>> = {
  bench: {
    args: [
      ...["bench", "--suite", testdata("small_suite.ts"), "--kernel", "naive"],
      ...[...FAST, ...KEPT, "--out", "new"],
    ],
    share: 0.3,
    makes: ["cache"],
  },
  tune: {
    args: [
      ...["tune", "--suite", testdata("tunable_suite.ts"), "--backend", "cpu"],
      ...KEPT,
    ],
    share: 0.15,
    makes: ["timings.json"],
  },
  import: {
    args: ["import", "new", "--into", "results"],
    share: 0.25,
    makes: ["results"],
  },
  report: {
    args: ["report", "new", "--out", "page.html"],
    share: 0.2,
    makes: [],
  },
  plot: { args: ["plot", "new", "--out", "plots"], share: 0.1, makes: [] },
};

/** The outcome of a campaign. */
export interface Kills {
  /** Kills by command; those that came after its end do not count. */
  readonly killed: Readonly<Record<string, number>>;
  readonly failures: readonly string[];
}

/** Kills `count` commands. Needs a C compiler. */
export async function killCommands(
  { count, seed }: { readonly count: number; readonly seed: number },
): Promise<Kills> {
  const folder = Deno.realPathSync(
    Deno.makeTempDirSync({ prefix: "kills-" }),
  );
  try {
    const place = new Place(folder);
    await place.prepare();
    const killed: Record<string, number> = {};
    for (const [name, { share }] of Object.entries(VICTIMS)) {
      const random = randomOf(seed);
      const own = Math.max(1, Math.round(share * count));
      killed[name] = 0;
      for (let i = 0; i < own; i++) {
        if (await place.kill(name, random)) killed[name]++;
      }
    }
    return { killed, failures: place.failures };
  } finally {
    Deno.removeSync(folder, { recursive: true });
  }
}

/** The folder in which commands run. */
class Place {
  readonly failures: string[] = [];
  readonly #folder: string;
  readonly #env: Readonly<Record<string, string>>;
  /** Changes of files that a command makes, and the milliseconds that it takes. */
  readonly #whole = new Map<string, { events: number; ms: number }>();
  /** What is there when all commands have ended. */
  #files: ReadonlySet<string> = new Set();
  #keys: ReadonlySet<string> = new Set();

  constructor(folder: string) {
    this.#folder = folder;
    this.#env = { TMPDIR: `${folder}/tmp` };
    Deno.mkdirSync(`${folder}/tmp`);
  }

  /** Runs each command to its end. */
  async prepare(): Promise<void> {
    for (const name of Object.keys(VICTIMS)) {
      const before = performance.now();
      using events = new Events(this.#folder);
      await this.#run(name);
      const ms = performance.now() - before;
      this.#whole.set(name, { events: events.count, ms });
    }
    this.#files = this.#names();
    this.#keys = await this.#keysIn("new");
    if (this.failures.length > 0) throw new Error(this.failures.join("\n"));
  }

  /** Kills a command and gives it again. @returns Whether it was killed before its end. */
  async kill(name: string, random: Random): Promise<boolean> {
    const { args, makes } = VICTIMS[name]!;
    for (const path of makes) {
      Deno.removeSync(`${this.#folder}/${path}`, { recursive: true });
    }
    const { events, ms } = this.#whole.get(name)!;
    const byEvent = random() < 0.5;
    const moment = byEvent ? 1 + below(random, events) : random() * ms;
    const said = `${name}, killed ${
      byEvent ? `at change ${moment} of ${events}` : `after ${moment} ms`
    }`;
    const child = start(args, this.#folder, { env: this.#env });
    const output = child.output();
    let isOver = false;
    const status = child.status.then((status) => {
      isOver = true;
      return status;
    });
    using changes = new Events(this.#folder, byEvent ? moment : Infinity);
    const timer = Promise.withResolvers<void>();
    const id = setTimeout(timer.resolve, byEvent ? 60_000 : moment);
    await Promise.race([status, changes.reached, timer.promise]);
    clearTimeout(id);
    if (!isOver) child.kill("SIGKILL");
    const { signal } = await status;
    await output;
    await this.#noneTorn(said);
    await this.#run(name, said);
    await this.#noneTorn(said);
    this.#noLitter(said);
    await this.#noneLost(said);
    return signal === "SIGKILL";
  }

  /** Runs a command to its end. */
  async #run(name: string, said = name): Promise<void> {
    const { args } = VICTIMS[name]!;
    const { code, stderr } = await program(args, {
      cwd: this.#folder,
      env: this.#env,
    });
    if (code !== 0) this.failures.push(`${said}: exit code ${code}: ${stderr}`);
  }

  async #noneTorn(said: string): Promise<void> {
    try {
      for (const folder of ["new", "results"]) await this.#keysIn(folder);
      readTimings(`${this.#folder}/timings.json`);
      for (const path of filesBelow(this.#folder)) {
        const flaw = flawOfFile(path);
        if (flaw) this.failures.push(`${said}: ${path} ${flaw}`);
      }
    } catch (error) {
      this.failures.push(`${said}: torn: ${error}`);
    }
  }

  async #noneLost(said: string): Promise<void> {
    for (const folder of ["new", "results"]) {
      const keys = await this.#keysIn(folder);
      const lost = [...this.#keys].filter((key) => !keys.has(key));
      if (lost.length > 0) this.failures.push(`${said}: lost ${lost}`);
    }
  }

  #noLitter(said: string): void {
    const names = this.#names();
    const odd = [
      ...[...names].filter((name) => !this.#files.has(name)),
      ...[...this.#files].filter((name) => !names.has(name))
        .map((name) => `no ${name}`),
    ];
    if (odd.length > 0) this.failures.push(`${said}: left ${odd.join(", ")}`);
  }

  /** The files that are there. */
  #names(): ReadonlySet<string> {
    return new Set(
      [...filesBelow(this.#folder)].map((path) =>
        path.slice(this.#folder.length + 1)
      ),
    );
  }

  /** The keys of the rows in `folder`, whose samples are read too. */
  async #keysIn(folder: string): Promise<ReadonlySet<string>> {
    const keys = new Set<string>();
    for (const path of filesIn(`${this.#folder}/${folder}`)) {
      if (!path.endsWith(".csv")) continue;
      const rows = (await readRows([path])).map(({ row }) => row);
      const samples = path.replace(/csv$/, "samples.jsonl.gz");
      const lines = await readSamples(samples, rows);
      for (const row of rows) {
        if (row.status === "ok" && !lines.has(keyText(row))) {
          this.failures.push(`${path}: a row lacks its samples`);
        }
        keys.add(keyText(row));
      }
    }
    return keys;
  }
}

/** The files of a folder that may be missing. */
function filesIn(folder: string): readonly string[] {
  try {
    return [...filesBelow(folder)];
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return [];
    throw error;
  }
}

/** The last bytes of whole files. */
const ENDS: Readonly<Record<string, readonly number[]>> = {
  ".png": [0x49, 0x45, 0x4e, 0x44, 0xae, 0x42, 0x60, 0x82],
  ".svg": [...new TextEncoder().encode("</svg>\n")],
  ".html": [...new TextEncoder().encode("</html>\n")],
};

/** Says that a picture or page is torn. */
function flawOfFile(path: string): string | undefined {
  const end = Object.entries(ENDS).find(([name]) => path.endsWith(name))?.[1];
  if (end === undefined) return undefined;
  const bytes = Deno.readFileSync(path);
  return `${bytes.slice(-end.length)}` === `${end}` ? undefined : "is torn";
}

/** Counts the changes of files below a folder. */
class Events implements Disposable {
  count = 0;
  /** Settled when there were so many. */
  readonly reached: Promise<void>;
  readonly #watcher: Deno.FsWatcher;

  constructor(folder: string, wanted = Infinity) {
    const watcher = this.#watcher = Deno.watchFs(folder);
    const { promise, resolve } = Promise.withResolvers<void>();
    this.reached = promise;
    (async () => {
      for await (const { kind } of watcher) {
        if (kind === "access") continue;
        if (++this.count >= wanted) resolve();
      }
    })();
  }

  [Symbol.dispose](): void {
    this.#watcher.close();
  }
}
