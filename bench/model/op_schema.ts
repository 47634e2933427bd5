/**
 * Checks operations: their definition, and what their functions return at a point.
 *
 * @module
 */

import {
  array,
  check,
  finite,
  function as func,
  type GenericIssue,
  type GenericSchema,
  literal,
  minLength,
  minValue,
  nonEmpty,
  number,
  object,
  optional,
  picklist,
  pipe,
  regex,
  safeInteger,
  safeParse,
  string,
  union,
  unknown,
} from "valibot";
import { BYTES, type DType } from "./dtype.ts";
import { blame, CaseError, show, UserError } from "./errors.ts";
import type { Axed } from "./axes.ts";
import {
  LAYOUT,
  type Operand,
  PARAMS,
  type Reference,
  storedBytes,
  type Tolerance,
} from "./problem.ts";

const scalar = union([number(), string()]);
const axis = object({
  name: pipe(string(), regex(/^\w[\w.-]*$/)),
  values: union([
    literal("size"),
    literal("sizes"),
    pipe(array(scalar), minLength(1)),
  ]),
  words: optional(array(string())),
  default: optional(scalar),
});
// Not a loose object: that would run the getters of what it does not name.
const opSchema = object({
  name: pipe(string(), nonEmpty()),
  axes: pipe(array(axis), minLength(1)),
  point: func(),
  operands: func(),
  inputs: func(),
  reference: func(),
  tolerance: func(),
  work: func(),
  key: func(),
  args: func(),
  mutants: func(),
  edgeCases: array(unknown()),
});

/** An example of each field of an operation. */
const EXAMPLES: Readonly<Record<string, string>> = {
  name: '`name: "softmax"`',
  axes: '`axes: [{ name: "m", about: "rows of A", values: "size" }]`',
  point: "`point: (values) => readAxes(op, values)`",
  operands: '`operands: ({ m }) => [{ name: "C", role: "out", ... }]`',
  inputs: "`inputs: (point, options) => [stored(options, 0, { ... })]`",
  reference: "`reference: (point, inputs) => ({ all, at })`",
  tolerance: "`tolerance: () => ({ rtol: 1e-4, atol: 1e-3 })`",
  work: "`work: ({ m, n }) => ({ flops: m * n, bytes: 4 * m * n })`",
  key: '`key: ({ m }) => ({ a_type: "f32", ..., m, n: 1, k: 1, params: "" })`',
  args: "`args: ({ m }, { A, C }) => [mem(A), mem(C), i32(m)]`",
  mutants: "`mutants: () => []`",
  edgeCases: "`edgeCases: [{ m: 1, n: 1 }]`",
};

/** Says what is wrong with an operation; nothing where it can be used. */
export function flawOfOp(op: Axed): string | undefined {
  const issue = safeParse(opSchema, op).issues?.[0];
  if (issue === undefined) {
    const names = op.axes.map(({ name }) => name);
    const twice = names.find((name, i) => names.indexOf(name) < i);
    return twice === undefined
      ? undefined
      : `its op ${op.name} declares the axis ${twice} twice: rename one, or leave it out`;
  }
  const [field, at, part] = (issue.path ?? []).map(({ key }) => `${key}`);
  const who = field === "name" ? "its op" : `its op ${op.name}`;
  const what = part !== undefined
    ? `a wrong ${part} of entry ${at} of its ${field}`
    : at !== undefined
    ? `a wrong entry ${at} of its ${field}`
    : `${isMissing(issue.input) ? "no" : "a wrong"} ${field}`;
  return `${who} has ${what}, such as ${EXAMPLES[field!]}`;
}

function isMissing(value: unknown): boolean {
  return value === undefined || Array.isArray(value) && value.length === 0;
}

const type = picklist(Object.keys(BYTES) as DType[]);
const amount = pipe(number(), finite(), minValue(0));
const count = pipe(number(), safeInteger(), minValue(0));
const size = pipe(number(), safeInteger(), minValue(1));

/** What the functions of an operation return at a point. */
const RETURNED = {
  key: object({
    a_type: type,
    b_type: type,
    c_type: type,
    acc_type: type,
    layout: pipe(string(), regex(LAYOUT)),
    m: size,
    n: size,
    k: size,
    params: pipe(string(), regex(PARAMS)),
  }),
  operands: pipe(
    array(pipe(
      object({
        name: pipe(string(), nonEmpty()),
        role: picklist(["in", "out"]),
        type,
        rows: count,
        cols: count,
        ld: count,
      }),
      check(({ cols, ld }) => ld >= cols),
    )),
    check((all) => all.some(({ role }) => role === "out")),
    check((all) => new Set(all.map(({ name }) => name)).size === all.length),
  ),
  tolerance: object({ rtol: amount, atol: amount }),
  bits: amount,
  work: object({ flops: amount, bytes: amount, type: optional(type) }),
} satisfies Readonly<Record<string, GenericSchema>>;

/** What would be right. */
const RIGHT: Readonly<Record<keyof typeof RETURNED, string>> = {
  key:
    'four types such as "f32", layout as a word or "", m, n and k as whole numbers of at least 1, and params as text such as "epilogue=relu", or ""',
  operands:
    'a list of { name, role, type, rows, cols, ld } of different names, "out" being the role of one at least, type one of ' +
    `${Object.keys(BYTES).join(", ")}, and ld at least cols`,
  tolerance: "{ rtol, atol }, finite numbers of at least 0",
  bits: "a finite number of at least 0",
  work: "{ flops, bytes }, finite numbers of at least 0",
};

/**
 * Returns `value`, which the function `name` of an operation returned.
 *
 * @throws {UserError} If it is not what the function must return.
 */
export function returned<T>(
  name: keyof typeof RETURNED,
  value: T,
  { op, at }: {
    readonly op: string;
    /** The point as text; empty where it is not known. */
    readonly at: string;
  },
): T {
  const issue = safeParse(RETURNED[name] as GenericSchema, value).issues?.[0];
  if (issue === undefined) return value;
  throw new UserError(
    `${name}() of its op ${op} gave ${flawOf(issue)}${
      at === "" ? "" : ` at ${at}`
    }: give ${RIGHT[name]}`,
  );
}

/**
 * Returns the tolerance of a kernel's own that `make` makes.
 *
 * @throws {CaseError} `launch`, where it throws or is none: the kernel's results would be called wrong.
 */
export function checkedTolerance(
  make: () => Tolerance,
  kernel: string,
): Tolerance {
  const who = `tolerance() of the kernel ${kernel}`;
  const given = blame(`ask ${who}`, make);
  const issue = safeParse(RETURNED.tolerance, given).issues?.[0];
  if (issue === undefined) return given;
  throw new CaseError(
    "launch",
    `Cannot use ${who}: it gave ${flawOf(issue)}; give ${RIGHT.tolerance}`,
  );
}

function flawOf({ path, input }: GenericIssue): string {
  const field = (path ?? []).map(({ key }) => `${key}`).join(".");
  return [field, shown(input)].filter(Boolean).join(" ");
}

function shown(value: unknown): string {
  if (typeof value === "string") return show(value);
  if (typeof value !== "object" || value === null) return String(value);
  const text = JSON.stringify(value);
  return text.length <= 80 ? text : `${text.slice(0, 79)}…`;
}

/** Operands of the operation named `op`. */
interface Owned {
  readonly op: string;
  readonly operands: readonly Operand[];
}

/**
 * Returns `inputs` if there is one for each input operand, of its size.
 *
 * @throws {CaseError} `launch`, otherwise: a kernel would read past their end.
 */
export function checkedInputs<T extends readonly Uint8Array[]>(
  inputs: T,
  { op, operands }: Owned,
): T {
  const wanted = operands.filter(({ role }) => role === "in");
  if (inputs?.length !== wanted.length) {
    throw new CaseError(
      "launch",
      `Cannot use inputs() of the op ${op}: it gave ${inputs?.length} arrays; give one for each of the ${wanted.length} operands with the role "in"`,
    );
  }
  for (const [i, operand] of wanted.entries()) {
    const bytes = storedBytes(operand);
    const given = inputs[i];
    if (given instanceof Uint8Array && given.length === bytes) continue;
    throw new CaseError(
      "launch",
      `Cannot use inputs() of the op ${op}: ${operand.name} is ${
        given instanceof Uint8Array ? `${given.length} bytes` : typeof given
      }; give a Uint8Array of rows × ld elements, ${bytes} bytes`,
    );
  }
  return inputs;
}

/**
 * Returns the reference that `make` makes, with a check of the length of each answer.
 *
 * @throws {CaseError} `launch`, where it throws, or an answer has another length than it must have.
 */
export function checkedReference(
  make: () => Reference,
  { op, operands }: Owned,
): Reference {
  const ask = <T>(work: () => T): T =>
    blame(`compute the reference of the op ${op}`, work);
  const reference = ask(make);
  const outputs = operands.filter(({ role }) => role === "out");
  const demand = <T extends Float64Array>(
    values: T,
    { name, length }: { name: string; length: number },
  ): T => {
    if (values instanceof Float64Array && values.length === length) {
      return values;
    }
    throw new CaseError(
      "launch",
      `Cannot use ${name} of the reference of the op ${op}: it gave ${
        values instanceof Float64Array
          ? `${values.length} elements`
          : typeof values
      }; give a Float64Array of ${length} elements`,
    );
  };
  return {
    all(output) {
      const { rows, cols } = outputs[output]!;
      const name = `all(${output})`;
      return demand(ask(() => reference.all(output)), {
        name,
        length: rows * cols,
      });
    },
    at(output, indices) {
      const name = `at(${output}, indices)`;
      const { length } = indices;
      return demand(ask(() => reference.at(output, indices)), { name, length });
    },
    ...(reference.norms === undefined ? {} : {
      norms(
        output: number,
        rows: readonly number[],
        columns: readonly number[],
      ) {
        const name = `norms(${output}, rows, columns)`;
        const length = rows.length * columns.length;
        return demand(ask(() => reference.norms!(output, rows, columns)), {
          name,
          length,
        });
      },
    }),
  };
}
