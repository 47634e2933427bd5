/**
 * The program as tests start it.
 *
 * @module
 */

import { fileURLToPath } from "node:url";
import { cpu } from "../../backends/cpu/cpu.ts";
import { CaseError } from "../../bench/model/errors.ts";
import { flagsOf } from "../permissions.ts";
import { temporary } from "../../bench/testdata/temporary.ts";

/** The outcome of the program. */
export interface Ran {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** Options of starting the program. */
export interface Start {
  /** The folder where it starts; the repository by default. */
  readonly cwd?: string;
  readonly env?: Readonly<Record<string, string>>;
  /** Flags of `deno run`. @default {those of the command's task} */
  readonly permissions?: readonly string[];
}

const HOME = fileURLToPath(new URL("../../", import.meta.url));

/** The path of `name` in this folder. */
export function testdata(name: string): string {
  return fileURLToPath(new URL(name, import.meta.url));
}

/** The command that starts the program with `args`. */
export function command(
  args: readonly string[],
  permissions: readonly string[] = flagsOf(args[0] ?? ""),
): readonly string[] {
  const main = `${HOME}cli/main.ts`;
  return [
    ...[Deno.execPath(), "run", "--quiet", "--no-prompt", ...permissions, main],
    ...[...args, ...forgetful(args)],
  ];
}

/** Starts the program with `args`, its output on pipes. */
export function start(
  args: readonly string[],
  cwd: string,
  { env = {}, permissions }: Omit<Start, "cwd"> = {},
): Deno.ChildProcess {
  const [program, ...all] = command(args, permissions);
  // Tests may run in a task, which says where it was typed; the program is not typed there.
  const { INIT_CWD: _, ...here } = Deno.env.toObject();
  return new Deno.Command(program!, {
    args: all,
    cwd,
    clearEnv: true,
    env: { ...here, ...env },
    stdin: "null",
    stdout: "piped",
    stderr: "piped",
  }).spawn();
}

/** A user's own timings are neither read nor written, unless a test names a file of its. */
function forgetful(args: readonly string[]): readonly string[] {
  const runs = args[0] === "bench" || args[0] === "check";
  const named = args.some((arg) =>
    ["--timing-cache", "--no-timing-cache", "--help"].includes(arg)
  );
  return runs && !named ? ["--no-timing-cache"] : [];
}

/** Runs the program with `args` to its end. */
export async function program(
  args: readonly string[],
  { cwd = HOME, ...rest }: Start = {},
): Promise<Ran> {
  const { code, stdout, stderr } = await start(args, cwd, rest).output();
  const text = (bytes: Uint8Array) => new TextDecoder().decode(bytes);
  return { code, stdout: text(stdout), stderr: text(stderr) };
}

/** Gives `test` a folder of its own, and what runs the program in it. */
export async function within(
  test: (run: (...args: string[]) => Promise<Ran>, folder: string) => unknown,
): Promise<void> {
  using folder = temporary();
  const { path: cwd } = folder;
  await test((...args) => program(args, { cwd }), cwd);
}

/**
 * Evaluates `expression`, with the exports of `module` as `m`, in a process of its own, whose
 * environment has `env` and nothing else of these names: tests that run at once share one.
 */
export async function evaluated(
  module: URL,
  expression: string,
  env: Readonly<Record<string, string | undefined>>,
): Promise<unknown> {
  const all = { ...Deno.env.toObject(), NO_COLOR: "1", ...env };
  const { success, stdout, stderr } = await new Deno.Command(Deno.execPath(), {
    args: [
      "eval",
      `import * as m from "${module}"; console.log(JSON.stringify(${expression}));`,
    ],
    cwd: HOME,
    clearEnv: true,
    env: Object.fromEntries(
      Object.entries(all).flatMap(([name, value]) =>
        value === undefined ? [] : [[name, value]]
      ),
    ),
  }).output();
  const text = (bytes: Uint8Array) => new TextDecoder().decode(bytes);
  if (!success) throw new Error(text(stderr));
  return JSON.parse(text(stdout));
}

/** The text of a suite file `odd` of one point and the kernel `naive`, whose tolerance `body` returns. */
export function suiteOfTolerance(body: string): string {
  return `import { defineSuite, kernels, matmul } from "mnkbench";
function tolerance(point) {
${body}
}
export default defineSuite({
  name: "odd",
  title: "-",
  op: { ...matmul, tolerance },
  axes: { m: [2], k: [8] },
  tie: { n: "m" },
  fixed: { type: "f32" },
  kernels: kernels.filter(({ name }) => name === "naive"),
  baselines: [],
});`;
}

/** Says why nothing can be compiled here, for the names of tests; empty where it can. */
export function lacking(): string {
  try {
    cpu.compiler(Deno.build.arch);
    return "";
  } catch (error) {
    if (!(error instanceof CaseError)) throw error;
    return ` (ignored: ${error.message})`;
  }
}
