/**
 * The tests: `deno task test`, which a contributor runs before each commit, and
 * `deno task test:all`, which is everything. With `--rest` the second leaves out what the
 * first has run, for a build machine that runs both. `deno task test:soak` makes each mistake
 * of `tools/mutants/` in a copy of the harness, and fails if more than 5 % go unnoticed; then it
 * runs the campaigns of `tools/campaigns/`. Arguments name campaigns, or select mistakes.
 *
 * Every step runs, whatever failed before it; the last line is `N passed, N failed`: the
 * tests, and one more failure for each other step that failed.
 *
 * @module
 */

import { stripVTControlCharacters } from "node:util";
import { soak } from "./mutants/soak.ts";

/** What a step prints, and whether that is well. */
interface Said {
  readonly ok: boolean;
  readonly text: string;
}

const FOLDERS = [
  "backends",
  "bench",
  "cli",
  "examples",
  "kernels",
  "peers",
  "report",
  "session",
  "suites",
  "tools",
];

const STEPS: Readonly<Record<string, () => Promise<Said>>> = {
  fmt: () => deno(["fmt", "--check"]),
  lint: () => deno(["lint"]),
  check: () => deno(["check"]),
  doc: async () => {
    const [all, exports] = await Promise.all([
      deno(["doc", "--lint", ...await sources()]),
      deno(["doc", "--lint", "mod.ts"]),
    ]);
    const found = [
      ...docLintErrors(all.text),
      ...docLintErrors(exports.text, { exports: true }),
      // It also fails for what is no complaint, such as a file that it cannot parse.
      ...[all, exports].filter(({ ok, text }) =>
        !ok && !text.includes("error[")
      ).map(({ text }) => text),
    ];
    return { ok: found.length === 0, text: found.join("\n") };
  },
};

/** Tests that only `test:all` runs: every config, every mutant, every long sweep. */
const FULL = "**/*_full_test.ts";

/** Flags of `deno test`, and what it is to test. */
interface Run {
  readonly name: string;
  readonly args: readonly string[];
}

/**
 * Not the program's permissions: tests of a full disk and of lost processes open /dev/full
 * and /proc, which takes all; those of the command line name the program's.
 */
const QUICK: Run = {
  name: "test",
  args: ["--doc", "--parallel", `--ignore=${FULL}`],
};

/** The tests of {@linkcode FULL}, one file at a time: each uses all cores itself. */
async function full(): Promise<Run> {
  const files: string[] = [];
  for (const folder of FOLDERS) await visit(folder, files, /_full_test\.ts$/);
  return { name: "test, full", args: files.toSorted() };
}

async function runsOf(args: readonly string[]): Promise<readonly Run[]> {
  const [mode, ...named] = args;
  if (mode === "--all") {
    return named.includes("--rest") ? [await full()] : [QUICK, await full()];
  }
  return args.length === 0
    ? [QUICK]
    : [{ name: "test", args: ["--doc", ...args] }];
}

async function main(): Promise<number> {
  if (Deno.args[0] === "--soak") return await soakAll(Deno.args.slice(1));
  let broken = 0;
  const rest = Deno.args.includes("--rest");
  for (const [name, run] of rest ? [] : Object.entries(STEPS)) {
    const start = performance.now();
    const { ok, text } = await run();
    if (!ok) {
      broken++;
      console.log(text);
    }
    report(name, { ok, start });
  }
  const totals = { passed: 0, failed: 0 };
  for (const { name, args } of await runsOf(Deno.args)) {
    const start = performance.now();
    const tests = await deno(["test", "-A", ...args], true);
    const { passed, failed } = countTests(tests.text);
    // A runner that ends badly without a failed test found modules that it cannot load.
    const lost = !tests.ok && failed === 0 ? 1 : 0;
    totals.passed += passed;
    totals.failed += failed + lost;
    report(name, { ok: tests.ok, start });
    for (const line of ignoredTests(tests.text)) console.log(`SKIP ${line}`);
  }
  const failures = totals.failed + broken;
  console.log(`${totals.passed} passed, ${failures} failed`);
  return failures > 0 ? 1 : 0;
}

const CAMPAIGNS = [
  ...["damage", "kills", "writers", "orders", "slurm", "bisects"],
  ...["compares", "shapes"],
];

/** @returns An exit code. */
async function soakAll(args: readonly string[]): Promise<number> {
  const names = args.filter((name) => CAMPAIGNS.includes(name));
  const others = args.filter((text) => !CAMPAIGNS.includes(text));
  const all = args.length === 0;
  const code = all || others.length > 0 ? await soak(others) : 0;
  if (!all && names.length === 0) return code;
  const { ok } = await deno(
    ["run", "-A", "tools/campaigns/testdata/main.ts", ...names],
    true,
  );
  return ok ? code : 1;
}

function report(name: string, { ok, start }: { ok: boolean; start: number }) {
  const seconds = ((performance.now() - start) / 1000).toFixed(1);
  console.log(`${ok ? "PASS" : "FAIL"} ${name} (${seconds} s)`);
}

/** Test files at a time, with `--parallel`: more than cores, as tests wait for processes and timers. */
const JOBS = navigator.hardwareConcurrency + 2;

/** Runs this Deno; what it prints is passed on at once where `live`. */
async function deno(args: readonly string[], live = false): Promise<Said> {
  const child = new Deno.Command(Deno.execPath(), {
    args: [...args],
    env: { NO_COLOR: "1", DENO_JOBS: `${JOBS}` },
    stdout: "piped",
    stderr: "piped",
  }).spawn();
  let text = "";
  const read = async (stream: ReadableStream<BufferSource>) => {
    for await (const part of stream.pipeThrough(new TextDecoderStream())) {
      const plain = stripVTControlCharacters(part);
      text += plain;
      if (live) await Deno.stdout.write(new TextEncoder().encode(plain));
    }
  };
  await Promise.all([read(child.stdout), read(child.stderr)]);
  return { ok: (await child.status).success, text };
}

/** Every module that is not a test. */
async function sources(): Promise<readonly string[]> {
  const found: string[] = ["mod.ts"];
  for (const folder of FOLDERS) {
    await visit(folder, found, /(?<!_test|\.d)\.ts$/);
  }
  return found.toSorted();
}

/** Adds to `found` the files below `folder` whose names match. */
async function visit(
  folder: string,
  found: string[],
  wanted: RegExp,
): Promise<void> {
  for await (const { name, isDirectory } of Deno.readDir(folder)) {
    const path = `${folder}/${name}`;
    if (isDirectory && name !== "testdata") await visit(path, found, wanted);
    else if (!isDirectory && wanted.test(name)) found.push(path);
  }
}

if (import.meta.main) Deno.exit(await main());

/** A complaint of `deno doc --lint`. */
interface Complaint {
  /** e.g. `missing-jsdoc`. */
  readonly code: string;
  readonly message: string;
  readonly place: string;
  /** True if it is about a part of an exported symbol: a field, a method. */
  readonly member: boolean;
}

/**
 * The complaints in what `deno doc --lint` printed, a line each.
 *
 * A member without a JSDoc is none, as most are told by their names and types. Local
 * types in signatures matter only in the package's `exports`, which users import.
 *
 * @example
 * ```ts
 * import { docLintErrors } from "./run_tests.ts";
 * import { assertEquals } from "@std/assert";
 *
 * const text = `error[missing-jsdoc]: exported symbol is missing JSDoc documentation
 *   --> bench/a.ts:9:17
 *   |
 *  9 | export function area() {
 * error[missing-jsdoc]: exported symbol is missing JSDoc documentation
 *   --> bench/a.ts:12:3
 *   |
 * 12 |   readonly width: number;
 * error[private-type-ref]: public type 'A' references private type 'B'
 *   --> bench/a.ts:12:3
 *   |
 * 12 |   readonly width: B;
 * `;
 * assertEquals(docLintErrors(text), [
 *   "bench/a.ts:9: exported symbol is missing JSDoc documentation",
 * ]);
 * assertEquals(docLintErrors(text, { exports: true }).length, 2);
 * ```
 */
export function docLintErrors(
  text: string,
  { exports = false }: { readonly exports?: boolean } = {},
): readonly string[] {
  return parse(text)
    .filter(({ code, member }) => code === "missing-jsdoc" ? !member : exports)
    .map(({ place, message }) => `${place}: ${message}`);
}

function parse(text: string): readonly Complaint[] {
  const found = text.matchAll(
    /^error\[([\w-]+)\]: ([^\n]*)\n\s*--> (.+:\d+):\d+\n[ |]*\n *\d+ \| (.*)$/gm,
  );
  return Array.from(found, ([, code, message, place, line]) => ({
    code: code!,
    message: message!,
    place: place!,
    // A default export, such as a suite, is documented by its module.
    member: !/^export (?!default)/.test(line!),
  }));
}

/**
 * The counts of the last summary in `text`; zeros where there is none.
 *
 * @example
 * ```ts
 * import { countTests } from "./run_tests.ts";
 * import { deepStrictEqual } from "node:assert/strict";
 *
 * const text = "FAILED | 12 passed (3 steps) | 2 failed | 1 ignored (4s)";
 * deepStrictEqual(countTests(text), { passed: 12, failed: 2 });
 * ```
 */
export function countTests(
  text: string,
): { readonly passed: number; readonly failed: number } {
  const summary = /^(?:ok|FAILED) \| (\d+) passed.*? \| (\d+) failed/gm;
  const last = [...text.matchAll(summary)].at(-1);
  return { passed: Number(last?.[1] ?? 0), failed: Number(last?.[2] ?? 0) };
}

/**
 * The names of tests that were ignored: each ends with the reason.
 *
 * @example
 * ```ts
 * import { ignoredTests } from "./run_tests.ts";
 * import { deepStrictEqual } from "node:assert/strict";
 *
 * const text = "cuda() loads a cubin, skipped: no GPU ... ignored (0ms)\nx ... ok (1ms)\n";
 * deepStrictEqual(ignoredTests(text), ["cuda() loads a cubin, skipped: no GPU"]);
 * ```
 */
export function ignoredTests(text: string): readonly string[] {
  return Array.from(
    text.matchAll(/^\s*(.*?) \.\.\. ignored(?: \(.*\))?$/gm),
    ([, name]) => name!,
  );
}
