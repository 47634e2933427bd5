/**
 * Checks definitions of suites and kernels. An error names the field and gives an example.
 *
 * @module
 */

import { findSimilar } from "@optique/core/suggestion";
import type { ChoiceAxes } from "./axes.ts";
import { show, UserError } from "./errors.ts";
import type { Axes, Values } from "./grid.ts";
import type {
  Kernel,
  KernelSpec,
  LaunchSpec,
  PythonSpec,
} from "./kernel_spec.ts";
import type { Op } from "./op.ts";
import { flawOfOp } from "./op_schema.ts";
import {
  array,
  function as func,
  type GenericIssue,
  type GenericSchema,
  instance,
  minLength,
  nonEmpty,
  object,
  optional,
  pipe,
  record,
  regex,
  safeParse,
  string,
  transform,
  union,
  unknown,
} from "valibot";

const filled = pipe(string(), nonEmpty());
const list = pipe(array(unknown()), minLength(1));
/** Tells an operation from anything else. {@linkcode flawOfOp} checks it. */
const opSchema = object({ point: func() });

const named = { name: filled, backend: filled };
const kernelSchema = object({
  ...named,
  idea: filled,
  prepare: func(),
  tolerance: optional(func()),
});
const launchSchema = object({
  ...named,
  source: union([instance(URL), func()]),
  entry: union([filled, func()]),
  macroPrefix: optional(pipe(string(), regex(/^([A-Za-z_]\w*)?$/))),
  flags: optional(array(string())),
  includes: optional(array(instance(URL))),
  compiler: optional(filled),
  tunables: optional(record(string(), list)),
  shape: optional(func()),
  tolerance: optional(func()),
});

const GPU_BACKENDS: readonly string[] = ["cuda", "hip", "metal"];

/** Only a C function is called once. */
const gpuLaunchSchema = object({ ...launchSchema.entries, shape: func() });

const pythonSchema = object({
  name: filled,
  python: pipe(
    union([string(), instance(URL)]),
    transform(String),
    regex(/\.py:[^\W\d]\w*$/),
  ),
});

/** The fields of each definition. Others are refused: they would have no effect. */
const FIELDS = {
  kernel: fields<KernelSpec<never, Values>>({
    takes: 0,
    name: 0,
    backend: 0,
    idea: 0,
    follows: 0,
    library: 0,
    teaching: 0,
    unsupported: 0,
    configs: 0,
    offers: 0,
    rules: 0,
    predict: 0,
    isFitted: 0,
    startsEarly: 0,
    builds: 0,
    tolerance: 0,
    prepare: 0,
  }),
  launch: fields<LaunchSpec<never, Axes>>({
    takes: 0,
    name: 0,
    backend: 0,
    idea: 0,
    teaching: 0,
    source: 0,
    entry: 0,
    flags: 0,
    includes: 0,
    compiler: 0,
    tunables: 0,
    macroPrefix: 0,
    rules: 0,
    predict: 0,
    unsupported: 0,
    defines: 0,
    shape: 0,
    args: 0,
    tolerance: 0,
  }),
  python: fields<PythonSpec<never>>({
    takes: 0,
    name: 0,
    python: 0,
    idea: 0,
    unsupported: 0,
  }),
  suite: fields<SuiteSpec<never>>({
    name: 0,
    title: 0,
    op: 0,
    axes: 0,
    tie: 0,
    fixed: 0,
    quick: 0,
    padding: 0,
    kernels: 0,
    baselines: 0,
  }),
};

/** The names of all fields of `T`: the compiler refuses to leave one out. */
function fields<T>(all: Record<keyof T, 0>): readonly string[] {
  return Object.keys(all);
}

/** Says which field of `spec` is none of `known`; nothing where all are. */
function strayField(
  spec: object,
  known: readonly string[],
): string | undefined {
  const stray = Object.keys(spec).find((name) => !known.includes(name));
  if (stray === undefined) return undefined;
  const near = findSimilar(stray, known, { maxSuggestions: 1 });
  return `it has an unknown field ${stray}: ${
    near.length > 0
      ? `did you mean ${near[0]}?`
      : `its fields are ${known.join(", ")}`
  }`;
}

/** An example of each field of a kernel. */
const EXAMPLES: Readonly<Record<string, string>> = {
  name: '`name: "mine"`',
  backend: '`backend: "cuda"`',
  idea: '`idea: "one block, no shared memory"`',
  prepare: "`prepare: ({ operands }) => ({ steps: [...] })`",
  source: '`source: new URL("./mine.cu", import.meta.url)`',
  entry: '`entry: "mine"`, a function of its source',
  macroPrefix: '`macroPrefix: "MINE_"`',
  flags: '`flags: ["-lineinfo"]`',
  includes: '`includes: [new URL("./include/", import.meta.url)]`',
  compiler: '`compiler: "nvcc"`',
  python: '`python: import.meta.resolve("./mine.py:fn")`',
  shape: "`shape: ({ m }) => ({ grid, block })`",
  tolerance: "`tolerance: ({ k }) => ({ rtol: 1e-6 * k, atol: 1e-6 })`",
};

const suiteSchema = object({
  // Also a file's name, which gets endings and has 255 bytes at most.
  name: pipe(string(), regex(/^\w[\w.-]{0,99}$/)),
  title: filled,
  op: opSchema,
  axes: record(string(), list),
  padding: optional(array(string())),
  kernels: array(object({
    candidates: func(),
    backend: filled,
    // A word of command lines and a column of tables.
    name: pipe(string(), nonEmpty(), regex(/^\w[\w.+-]{0,99}$/)),
  })),
  baselines: array(string()),
});

const LETTERS = "letters, digits, `_`, `-` and `.`";

/** Checks a kernel. @throws {UserError} Naming the field of `spec` that is wrong. */
export function demandKernel<P, C extends Values>(
  op: Op<P>,
  spec: KernelSpec<P, C>,
): void {
  demand(op, spec, [kernelSchema, FIELDS.kernel]);
}

/** Checks a kernel of one launch. @throws {UserError} Naming the field of `spec` that is wrong. */
export function demandLaunch<P, T extends Axes>(
  op: Op<P>,
  spec: LaunchSpec<P, T>,
): void {
  // A misspelt backend is refused by that name, where the suite is loaded.
  const isGpu = GPU_BACKENDS.includes(spec.backend);
  const schema = isGpu ? gpuLaunchSchema : launchSchema;
  demand(op, spec, [schema, FIELDS.launch]);
}

/** Checks a kernel of Python. @throws {UserError} Naming the field of `spec` that is wrong. */
export function demandPython<P>(op: Op<P>, spec: PythonSpec<P>): void {
  demand(op, spec, [pythonSchema, FIELDS.python]);
}

function demand(
  op: unknown,
  spec: object,
  [schema, known]: readonly [GenericSchema, readonly string[]],
): void {
  const who = safeParse(object({ name: filled }), spec);
  const refuse = (why: string): never => {
    const name = who.success ? ` ${who.output.name}` : "";
    throw new UserError(`Cannot define the kernel${name}: ${why}`);
  };
  if (safeParse(opSchema, op).issues) {
    refuse("its first argument is no operation, such as matmul");
  }
  const issue = safeParse(schema, spec).issues?.[0];
  if (issue === undefined) {
    const stray = strayField(spec, known);
    return stray === undefined ? undefined : refuse(stray);
  }
  const [field, name] = keysOf(issue);
  if (field === "tunables" && name !== undefined) {
    refuse(`its tunable ${name} has no values, such as \`${name}: [16, 32]\``);
  }
  refuse(
    `it has ${issue.input === undefined ? "no" : "a wrong"} ${field}, such as ${
      EXAMPLES[`${field}`]
    }`,
  );
}

function keysOf({ path }: GenericIssue): readonly unknown[] {
  return (path ?? []).map(({ key }) => key);
}

/** Checks a suite. @throws {UserError} Naming the field of `spec` that is wrong. */
export function demandSuite<P>(spec: SuiteSpec<P>): void {
  const issue = safeParse(suiteSchema, spec).issues?.[0];
  const refuse = (why: string): never => {
    const isName = issue === undefined || keysOf(issue)[0] !== "name";
    const name = isName ? spec.name : show(`${spec.name}`);
    throw new UserError(`Cannot define the suite ${name}: ${why}`);
  };
  if (issue !== undefined) refuse(flawOf(issue));
  const flaw = strayField(spec, FIELDS.suite) ?? flawOfValues(spec) ??
    flawOfOp(spec.op);
  if (flaw !== undefined) refuse(flaw);
  const seen = new Set<string>();
  for (const { name, backend } of spec.kernels) {
    const full = `${name} on ${backend}`;
    if (seen.has(full)) refuse(`it has two kernels named ${full}`);
    seen.add(full);
  }
  for (const kernel of spec.kernels) {
    const seen = new Set([kernel]);
    let leader = leaderOf(kernel, spec.kernels);
    while (leader !== undefined && !seen.has(leader)) {
      seen.add(leader);
      leader = leaderOf(leader, spec.kernels);
    }
    if (leader === kernel) {
      refuse(
        `its kernel ${kernel.name} follows itself: leave out \`follows\`, or name the kernel whose config it takes`,
      );
    }
  }
}

/** Says which value of an axis is neither a number nor text. */
function flawOfValues<P>(
  { axes, quick = {}, fixed = {} }: SuiteSpec<P>,
): string | undefined {
  const lists: readonly (readonly [string, unknown])[] = [
    ...[axes, quick].flatMap(Object.entries),
    ...Object.entries(fixed).filter(([, value]) => value !== undefined)
      .map(([name, value]) => [name, [value]] as const),
  ];
  for (const [axis, list] of lists) {
    if (!Array.isArray(list)) return `its axis ${axis} is no list`;
    for (const value of list) {
      const isGroup = typeof value === "object" && value !== null;
      const stray = (isGroup ? Object.values(value) : [value]).find((one) =>
        typeof one !== "number" && typeof one !== "string"
      );
      if (stray === undefined && value !== undefined) continue;
      const type = typeof stray === "bigint" ? "n, a bigint" : "";
      return `its axis ${axis} has the value ${
        String(stray)
      }${type}: give numbers or texts, such as \`${axis}: [16, 32]\``;
    }
  }
}

/** Says what is wrong with a suite. */
function flawOf(issue: GenericIssue): string {
  const [field, at, part] = keysOf(issue);
  switch (field) {
    case "name":
      return `its name must be ${LETTERS}, 100 at most, as it becomes a file name`;
    case "title":
      return 'it has no title, such as `title: "My GEMM"`';
    case "op":
      return "it has no op";
    case "axes":
      return at === undefined
        ? "it has no axes, such as `axes: { m: [16], k: [8192] }`"
        : Array.isArray(issue.input)
        ? `its axis ${at} has no values`
        : `its axis ${at} is no list, such as \`${at}: [16, 32]\``;
    case "padding":
      return 'its padding is no list of strides, such as `padding: ["lda"]`';
    default:
  }
  if (field !== "kernels" || at === undefined) {
    return "it needs lists of kernels and of baselines";
  }
  if (part === undefined || part === "candidates") {
    return `entry ${at} of its kernels is not a kernel`;
  }
  return issue.input === undefined || issue.input === ""
    ? `entry ${at} of its kernels has no ${part}`
    : `the name ${
      show(`${issue.input}`)
    } of entry ${at} of its kernels must be ${LETTERS} and \`+\`, 100 at most`;
}

/** Returns the one of `kernels` whose config `kernel` takes; none where it follows none. */
export function leaderOf<P>(
  kernel: Kernel<P>,
  kernels: readonly Kernel<P>[],
): Kernel<P> | undefined {
  if (kernel.follows === undefined) return undefined;
  return kernels.find(({ name, backend }) =>
    name === kernel.follows && backend === kernel.backend
  );
}

/** Describes a suite for {@linkcode defineSuite}. */
export interface SuiteSpec<P> {
  /** The value of the column `suite`, and the name of its CSV. */
  readonly name: string;
  /** One line for listings and tables. */
  readonly title: string;
  readonly op: Op<P>;
  /**
   * Lists of values by axis, the last one varying fastest. A value that is an object sets
   * several axes at once: `{ weights: [{ n: 2048, k: 8192 }, { n: 4096, k: 4096 }] }`.
   */
  readonly axes: ChoiceAxes;
  /** Axes that follow another one unless overridden: `{ n: "m" }` makes N = M. */
  readonly tie?: Readonly<Record<string, string>>;
  /** Values of axes that are not swept. @default {the defaults of the operation} */
  readonly fixed?: Values;
  /** Replaces `axes` with `--quick`, and on a CPU if nothing is selected. */
  readonly quick?: ChoiceAxes;
  /**
   * The strides that its kernels take, such as `["lda", "ldb", "ldc"]`: edge-case shapes then have
   * some with padded rows, such as `lda=520` at K = 512. @default {none}
   */
  readonly padding?: readonly string[];
  readonly kernels: readonly Kernel<P>[];
  /** Kernels that speed-ups are relative to, in order of preference. */
  readonly baselines: readonly string[];
}
