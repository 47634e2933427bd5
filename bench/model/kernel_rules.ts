/**
 * What a kernel must be, said where it is defined: its author may be anybody.
 *
 * @module
 */

import { UserError } from "./errors.ts";
import type { KernelSpec, LaunchSpec } from "./kernel_spec.ts";
import type { Axes, Values } from "./grid.ts";
import type { Op } from "./op.ts";

/** A field, whether a value will do, and how one is written. */
type Demand = readonly [
  field: string,
  is: (value: unknown) => boolean,
  example: string,
];

const isText = (value: unknown) => typeof value === "string" && value !== "";
const isFunction = (value: unknown) => typeof value === "function";
const isList = (value: unknown) => Array.isArray(value) && value.length > 0;

const NAME: Demand = ["name", isText, '`name: "mine"`'];
const BACKEND: Demand = ["backend", isText, '`backend: "cuda"`'];

/** @throws {UserError} Where `spec` is no kernel of the operation `op`, with what it lacks. */
export function demandKernel<P, C extends Values>(
  op: Op<P>,
  spec: KernelSpec<P, C>,
): void {
  demand(op, spec, [
    NAME,
    BACKEND,
    ["idea", isText, '`idea: "one block, no shared memory"`'],
    ["prepare", isFunction, "`prepare: ({ operands }) => ({ steps: [...] })`"],
  ]);
}

/** @throws {UserError} Where `spec` is no kernel of one launch, with what it lacks. */
export function demandLaunch<P, T extends Axes>(
  op: Op<P>,
  spec: LaunchSpec<P, T>,
): void {
  const refuse = demand(op, spec, [
    NAME,
    BACKEND,
    [
      "source",
      (value) => value instanceof URL,
      '`source: new URL("./mine.cu", import.meta.url)`',
    ],
    ["entry", isText, '`entry: "mine"`, a function of its source'],
  ]);
  for (const [name, list] of Object.entries(spec.tunables ?? {})) {
    if (!isList(list)) {
      refuse(
        `its tunable ${name} has no values, such as \`${name}: [16, 32]\``,
      );
    }
  }
  if (spec.shape !== undefined && !isFunction(spec.shape)) {
    refuse(
      "its shape is no function, such as `shape: ({ m }) => ({ grid, block })`",
    );
  }
}

/** @returns What refuses the kernel for another reason. */
function demand(
  op: unknown,
  spec: unknown,
  demands: readonly Demand[],
): (why: string) => never {
  const read = (field: string): unknown =>
    typeof spec === "object" && spec !== null
      ? Reflect.get(spec, field)
      : undefined;
  const name = read("name");
  const refuse = (why: string): never => {
    throw new UserError(
      `Cannot define the kernel${isText(name) ? ` ${name}` : ""}: ${why}`,
    );
  };
  if (!isFunction((op as { point?: unknown } | undefined)?.point)) {
    refuse("its first argument is no operation, such as matmul");
  }
  for (const [field, is, example] of demands) {
    if (is(read(field))) continue;
    const has = read(field) === undefined ? "it has no" : "it has a wrong";
    refuse(`${has} ${field}, such as ${example}`);
  }
  return refuse;
}
