/**
 * Writes an export's tables as a C header, and its binaries as one file.
 *
 * @module
 */

import { type Build, buildText } from "../../../bench/device/device.ts";
import type { Axis } from "../../../bench/model/axes.ts";
import type { Op } from "../../../bench/model/op.ts";
import { ACTIVATIONS } from "../../../kernels/common/operands.ts";
import {
  type LaunchPlan,
  type Place,
  type PlannedArg,
  type PlannedMap,
  startsEarly,
} from "./record.ts";
import type { Linear } from "./rows.ts";
import { keyAxes, numberOf, type PlanTable } from "./tables.ts";

/** The binaries of an export in one file. */
export interface Image {
  readonly bytes: Uint8Array<ArrayBuffer>;
  /** Where each starts. */
  readonly offsets: readonly number[];
}

/** Binaries start at multiples of so many bytes. */
const ALIGNMENT = 64;

/** Puts `binaries` one behind the other. */
export function imageOf(
  binaries: readonly Uint8Array<ArrayBuffer>[],
): Image {
  const offsets: number[] = [];
  let end = 0;
  for (const { length } of binaries) {
    offsets.push(end);
    end += Math.ceil(length / ALIGNMENT) * ALIGNMENT;
  }
  const bytes = new Uint8Array(end);
  binaries.forEach((binary, i) => bytes.set(binary, offsets[i]));
  return { bytes, offsets };
}

/** FNV-1a in 64 bits, as `mnk_hash` of launch.h computes it. */
function fnv1a(bytes: Uint8Array): bigint {
  // In halves of 32 bits: 0x100000001b3 is 2^40 + 0x1b3.
  let [high, low] = [0xcbf29ce4, 0x84222325];
  for (const byte of bytes) {
    low = (low ^ byte) >>> 0;
    const product = low * 0x1b3;
    const carry = Math.floor(product / 2 ** 32);
    high = (Math.imul(high, 0x1b3) + carry + (low << 8)) >>> 0;
    low = product >>> 0;
  }
  return BigInt(high) << 32n | BigInt(low);
}

/** A list of texts in which each is once. */
class Pool {
  readonly #places = new Map<string, number>();
  readonly items: string[] = [];

  /** Returns the place of the first of `texts`, which follow one another. */
  place(...texts: readonly string[]): number {
    const key = texts.join("\n");
    const place = this.#places.get(key) ?? this.items.length;
    if (!this.#places.has(key)) {
      this.#places.set(key, place);
      this.items.push(...texts);
    }
    return place;
  }
}

/** Returns the units that `tables` launch, each once, in the order of the image. */
export function buildsOf(tables: readonly PlanTable[]): readonly Build[] {
  const steps = tables.flatMap(({ rows }) =>
    rows.flatMap(({ plan }) => plan.steps)
  );
  return [
    ...new Map(steps.map(({ build }) => [buildText(build), build])).values(),
  ];
}

/** Arguments and tensor maps of one launch at most, as launch.h has room for. */
const MOST = { args: 32, maps: 6, rank: 5 };

/** A number of the C arrays. */
const linear = ({ base, slope }: Linear) => `{${base}, ${slope}}`;
const list = (items: readonly (string | number)[]) => `{${items.join(", ")}}`;

/** What a header is made of. */
export interface Exported {
  readonly op: Op<unknown>;
  readonly arch: string;
  readonly tables: readonly PlanTable[];
  readonly image: Image;
  /** Whether calls start before their predecessors end, where their kernel can. */
  readonly pdl: boolean;
  /** Who made it of what, without a line end. */
  readonly origin: string;
}

/** What a caller of an export with `--pdl` must know, in lines. */
export const PDL_CONTRACT = [
  "With programmatic dependent launch (--pdl) a call may start while the launches before it in the stream",
  "still run. It may read weights, their scales and biases at once. It reads and writes everything else after",
  "those launches have ended, if each of them that uses PDL waits for its own predecessor, as these do.",
  "Weights, their scales and biases must not be written by a launch that may still be running: after",
  "writing them, synchronize, or launch any kernel without PDL before the call.",
] as const;

/** All operands of `op`, in the order of the fields; an input or output is the same at all points. */
export function operandsOf(
  op: Op<unknown>,
  tables: readonly PlanTable[],
): readonly { readonly name: string; readonly role: "in" | "out" }[] {
  const roles = new Map<string, "in" | "out">();
  for (const point of op.edgeCases) {
    for (const { name, role } of op.operands(point)) roles.set(name, role);
  }
  const named = new Set(tables.flatMap(({ operands }) => operands));
  const missing = [...named].find((name) => !roles.has(name));
  if (missing) throw new Error(`No edge case of ${op.name} has ${missing}`);
  return [...roles].map(([name, role]) => ({ name, role }))
    .toSorted((a, b) => Number(a.role === "out") - Number(b.role === "out"));
}

/** The prefix of an operation's names in C. */
export function prefixOf({ name }: Pick<Op<unknown>, "name">): string {
  return `mnk_${name.replaceAll(/\W/g, "_")}`;
}

/** Writes the tables of a header. */
class Arrays {
  readonly functions = new Pool();
  readonly maps = new Pool();
  readonly args = new Pool();
  readonly steps = new Pool();
  readonly rows: string[] = [];
  readonly #operands: readonly string[];
  readonly #builds: readonly string[];
  readonly #pdl: boolean;
  /** Bytes of the kept part by the value of its bytes. */
  readonly #kept = new Map<number, number>();
  /** The largest shared memory and cluster of each entry. */
  readonly #needs = new Map<string, { shared: number; wide: boolean }>();

  constructor({ op, tables, pdl }: Exported) {
    this.#pdl = pdl;
    this.#operands = operandsOf(op, tables).map(({ name }) => name);
    this.#builds = buildsOf(tables).map(buildText);
    for (const { plan } of tables.flatMap(({ rows }) => rows)) {
      for (const [byte, bytes] of plan.kept) {
        const known = this.#kept.get(byte) ?? 0;
        this.#kept.set(byte, Math.max(known, bytes));
      }
      for (const { build, entry, shape } of plan.steps) {
        const key = this.#entry(build, entry);
        const { shared = 0, wide = false } = this.#needs.get(key) ?? {};
        this.#needs.set(key, {
          shared: Math.max(shared, shape.sharedBytes ?? 0),
          wide: wide || (shape.cluster ?? 1) > 8,
        });
      }
    }
  }

  /** The kept parts of the workspace: where each starts, its bytes, and their value. */
  get kept(): readonly (readonly [number, number, number])[] {
    let start = 0;
    return [...this.#kept].toSorted(([a], [b]) => a - b).map(
      ([byte, bytes]) => [(start += bytes) - bytes, bytes, byte] as const,
    );
  }

  #entry(build: Build, entry: string): string {
    return `${this.#builds.indexOf(buildText(build))} ${entry}`;
  }

  /** Adds the row of a plan. */
  row(from: number, to: number, plan: LaunchPlan<Linear>): void {
    const steps = plan.steps.map(({ build, entry, shape, grid, args }) => {
      const maps = args.filter(({ kind }) => kind === "map");
      if (args.length > MOST.args || maps.length > MOST.maps) {
        throw new Error(`${entry} has more arguments than launch.h takes`);
      }
      const key = this.#entry(build, entry);
      const { shared, wide } = this.#needs.get(key)!;
      const [binary] = key.split(" ");
      const fields = [
        this.functions.place(
          list([binary!, shared, Number(wide), `"${entry}"`]),
        ),
        this.args.place(...args.map((arg) => this.#arg(arg))),
        args.length,
        list(shape.block),
        shape.sharedBytes ?? 0,
        shape.cluster ?? 1,
        ...[shape.cooperative, shape.overlap].map((flag) =>
          Number(flag ?? false)
        ),
        list(grid.map(linear)),
      ];
      return list(fields);
    });
    const first = this.steps.place(...steps);
    const kept = Number(plan.kept.length > 0);
    const fields = [from, to, first, steps.length, kept, linear(plan.scratch)];
    const how = this.#pdl && !startsEarly(plan) ? "; without PDL" : "";
    this.rows.push(`/* ${plan.note}${how} */ ${list(fields)}`);
  }

  #arg(arg: PlannedArg<Linear>): string {
    switch (arg.kind) {
      case "bits":
        return list(["MNK_INTEGER64", 0, 0, `{${arg.value}, 0}`]);
      case "int32":
      case "int64": {
        const kind = arg.kind === "int32" ? "MNK_INTEGER32" : "MNK_INTEGER64";
        return list([kind, 0, 0, linear(arg.value)]);
      }
      case "pointer":
      case "map": {
        const { memory, start } = this.#memory(arg.at);
        const { base, slope } = arg.value;
        const map = arg.kind === "map" ? this.maps.place(mapText(arg.map)) : 0;
        const kind = arg.kind === "map" ? "MNK_MAP" : "MNK_POINTER";
        return list([
          ...[kind, memory, map],
          linear({ base: base + start, slope }),
        ]);
      }
    }
  }

  #memory(at: Place): { readonly memory: number; readonly start: number } {
    if ("operand" in at) {
      return { memory: this.#operands.indexOf(at.operand), start: 0 };
    }
    if (at.part === "scratch") return { memory: -1, start: 0 };
    const [start] = this.kept.find(([, , byte]) => byte === at.byte)!;
    return { memory: -2, start };
  }
}

function mapText(
  { dims, strides, box, steps, ...how }: PlannedMap<Linear>,
): string {
  if (dims.length > MOST.rank) throw new Error("a map has five dimensions");
  return list([
    ...[how.type, dims.length, how.interleave, how.swizzle],
    ...[how.promotion, how.fill],
    list(dims.map(linear)),
    list(strides.length > 0 ? strides.map(linear) : ["{0, 0}"]),
    list(box),
    list(steps),
  ]);
}

/** A C array. There is none without an element. */
function array(type: string, name: string, items: readonly string[]): string {
  if (items.length === 0) return "";
  const lines = items.map((line) => `  ${line},\n`).join("");
  return `static const ${type} ${name}[] = {\n${lines}};\n`;
}

/** The architecture that binaries need: a suffix means that no other minor version has it. */
function archOf(arch: string) {
  const [, major, minor, own] = /^sm_(\d+)(\d)(a?)f?$/.exec(arch)!;
  return [major!, minor!, own === "a" ? 0 : 1];
}

/** The names that the sections of one header share. */
interface HeaderNames {
  /** Of functions, types and arrays in C. */
  readonly prefix: string;
  /** Of macros and enumerators in C. */
  readonly upper: string;
  readonly axes: readonly Axis[];
  readonly operands: ReturnType<typeof operandsOf>;
}

/** The C name of the field of an operand. */
const fieldOf = ({ name }: { readonly name: string }) => name.toLowerCase();

/** The arrays of a header. */
interface ArraysText {
  /** Their definitions in C. */
  readonly text: string;
  /** The name of each in the order of the fields of `mnk_export`; `NULL` for an empty one. */
  readonly names: readonly string[];
  /** How many functions and kept regions there are, and the bytes of the regions. */
  readonly functions: number;
  readonly regions: number;
  readonly keptBytes: number;
}

function arraysText(
  exported: Exported,
  { prefix, operands }: HeaderNames,
): ArraysText {
  const { tables, image } = exported;
  const arrays = new Arrays(exported);
  const keys: string[] = [];
  const entries = tables.map(({ key, operands: own, rows }, i) => {
    const first = arrays.rows.length;
    for (const { from, to, plan } of rows) arrays.row(from, to, plan);
    const mask = operands.reduce(
      (sum, { name }, bit) => sum | (own.includes(name) ? 1 << bit : 0),
      0,
    );
    keys.push(
      `static const int64_t ${prefix}_key_${i}[][2] = ${
        list(key.map(([a, b]) => `{${a}, ${b}}`))
      };\n`,
    );
    return list([first, rows.length, mask, `${prefix}_key_${i}`]);
  });
  const parts: readonly (readonly [string, string, readonly string[]])[] = [
    ["binary", "binaries", image.offsets.map((at) => list([at]))],
    ["function", "functions", arrays.functions.items],
    ["map", "maps", arrays.maps.items],
    ["arg", "arguments", arrays.args.items],
    ["step", "steps", arrays.steps.items],
    ["row", "rows", arrays.rows],
    ["table", "tables", entries],
    ["region", "kept", arrays.kept.map(list)],
  ];
  const text = parts.map(([type, name, items]) =>
    array(`mnk_${type}`, `${prefix}_${name}`, items)
  );
  return {
    text: `${keys.join("")}\n${text.join("")}`,
    names: parts.map(([, name, items]) =>
      items.length > 0 ? `${prefix}_${name}` : "NULL"
    ),
    functions: arrays.functions.items.length,
    regions: arrays.kept.length,
    keptBytes: arrays.kept.reduce((sum, [, bytes]) => sum + bytes, 0),
  };
}

/** The first comment: how to call the functions. */
function usageText(
  { origin, pdl }: Exported,
  { prefix, operands }: HeaderNames,
): string {
  const weights = operands.filter(({ name, role }) =>
    role === "in" && !ACTIVATIONS.has(name)
  ).map(fieldOf);
  const contract = [
    "\n",
    ...PDL_CONTRACT,
    `Weights, scales and biases of this operation: ${weights.join(", ")}.`,
    `A call of a row of ${prefix}_rows that says "without PDL" is launched as without --pdl.`,
  ].join("\n   ");
  return `/* ${origin}

     mnk_context *context;
     mnk_status status = ${prefix}_open(&context, "${prefix}.bin"); with the CUDA context current
     ${prefix}_args args = {0};                                    operands, sizes and other axes
     status = ${prefix}_workspace(&args, &bytes);                  and ${prefix}_fill_workspace, once
     status = ${prefix}(context, &args, stream);                   each call; MNK_OK, or nothing was computed
     mnk_close(context);

   Threads may share a context. Work for one workspace must not overlap. A kernel that waits for its other
   blocks is launched cooperatively: it fails where they do not fit on the device together.${
    pdl ? contract : ""
  } */`;
}

/** The enumerators of axes with named values. */
function enumText({ upper, axes }: HeaderNames): string {
  const lines = axes.flatMap((axis) =>
    [
      ...(typeof axis.values === "string" ? [] : axis.values),
      ...axis.words ?? [],
    ].map((value) => {
      const name = `${axis.name}_${value}`.replaceAll(/\W/g, "_").toUpperCase();
      return `  ${upper}_${name} = ${numberOf(axis, value)},`;
    })
  );
  return lines.length > 0
    ? `/* Values of axes. */\nenum {\n${lines.join("\n")}\n};\n`
    : "";
}

/** The struct of one call. */
function argsText({ prefix, axes, operands }: HeaderNames): string {
  const pointers = operands.map((operand) =>
    `  ${operand.role === "in" ? "const " : ""}void *${fieldOf(operand)};`
  );
  const fields = axes.map(({ name, values, about, optional, ...axis }) => {
    const left = axis.default !== undefined
      ? `; 0: ${axis.default}`
      : optional
      ? "; 0: the usual one"
      : "";
    const type = typeof values === "string" ? "int64_t" : "int";
    return `  ${type} ${name}; /* ${about}${left} */`;
  });
  return `/* One call. Operands are device pointers at multiples of 16 bytes. The workspace is device memory at a
   multiple of 256 bytes, ${prefix}_workspace bytes or more, which ${prefix}_fill_workspace has
   filled once. At any time one stream, or one graph, may use it. */
typedef struct {
${pointers.join("\n")}
  int64_t m;
${fields.join("\n")}
  void *workspace;
  size_t workspace_bytes;
} ${prefix}_args;`;
}

/** The functions that a caller uses. */
function functionsText(
  { prefix, upper, axes, operands }: HeaderNames,
): string {
  const reads = [
    ...axes.map(({ name }, i) => `  axes[${i}] = args->${name};`),
    ...operands.map((operand, i) =>
      `  operands[${i}] = args->${fieldOf(operand)};`
    ),
  ];
  const keys = axes.map(({ name, values }, i) =>
    `    args->${name} = ${
      typeof values === "string" ? "" : "(int)"
    }table->key[${i}][0];`
  );
  // Groups run along the rows of stored weights.
  const groupCheck = axes.some(({ name }) => name === "group")
    ? `
  const int64_t line = args->layout == ${upper}_LAYOUT_NN ? args->n : args->k;
  if (args->group > 0 && line % args->group) return MNK_BAD_GROUP;`
    : "";
  return `static inline void ${prefix}_read(const ${prefix}_args *args, int64_t *axes, const void **operands) {
${reads.join("\n")}
}

/* Loads the kernels from the file at \`path\` into the current CUDA context. mnk_close() gives them back. */
static inline mnk_status ${prefix}_open(mnk_context **to, const char *path) {
  return mnk_open_file(&${prefix}_export, to, path);
}

/* The shape of row \`index\` of the export, with its least M, and its greatest M at \`to\`; 0 where there
   are fewer rows. */
static inline int ${prefix}_shape(int index, ${prefix}_args *args, int64_t *to) {
  memset(args, 0, sizeof *args);
  for (int i = 0; i < ${prefix}_export.table_count; i++) {
    const mnk_table *table = &${prefix}_tables[i];
    if (index < table->first_row || index >= table->first_row + table->rows) continue;
${keys.join("\n")}
    args->m = ${prefix}_rows[index].from;
    *to = ${prefix}_rows[index].to;
    return 1;
  }
  return 0;
}

/* The bytes of workspace of a shape. */
static inline mnk_status ${prefix}_workspace(const ${prefix}_args *args, size_t *bytes) {
  int64_t axes[${axes.length}];
  const void *operands[${operands.length}];
  if (!args || !bytes) return MNK_NULL_POINTER;${groupCheck}
  ${prefix}_read(args, axes, operands);
  const mnk_table *table = mnk_find_table(&${prefix}_export, axes);
  const mnk_row *row = table ? mnk_find_row(&${prefix}_export, table, args->m) : NULL;
  if (!row) return MNK_UNKNOWN_SHAPE;
  *bytes = mnk_workspace_bytes(&${prefix}_export, row, args->m);
  return MNK_OK;
}

/* Prepares a workspace for its first call, on the stream of that call. */
static inline mnk_status ${prefix}_fill_workspace(const mnk_context *context, void *workspace, size_t bytes,
                                                  mnk_stream stream) {
  return mnk_fill_workspace(&${prefix}_export, context, workspace, bytes, stream);
}

/* Launches the kernels of one call on \`stream\` and waits for nothing. */
static inline mnk_status ${prefix}(const mnk_context *context, const ${prefix}_args *args, mnk_stream stream) {
  int64_t axes[${axes.length}];
  const void *operands[${operands.length}];
  if (!args) return MNK_NULL_POINTER;${groupCheck}
  ${prefix}_read(args, axes, operands);
  return mnk_run(&${prefix}_export, context, axes, args->m, operands, args->workspace, args->workspace_bytes, stream);
}`;
}

/** The header of an export: C99 and C++, without a warning. */
export function headerText(exported: Exported): string {
  const { op, arch, tables, image } = exported;
  const prefix = prefixOf(op);
  const upper = prefix.toUpperCase();
  const [axes, operands] = [keyAxes(op), operandsOf(op, tables)];
  const names = { prefix, upper, axes, operands };
  const arrays = arraysText(exported, names);
  const imageHash = fnv1a(image.bytes);
  const hash = fnv1a(new TextEncoder().encode(`${imageHash} ${arrays.text}`));
  const counts = [
    image.offsets.length,
    arrays.functions,
    tables.length,
    axes.length,
    operands.length,
    arrays.regions,
  ];
  return `${usageText(exported, names)}
#if defined ${upper}_H && ${upper}_EXPORT != ${hash}ull
#error "${prefix}.h of another export is included: give each a file of its own"
#endif
#ifndef ${upper}_H
#define ${upper}_H
#define ${upper}_EXPORT ${hash}ull

#include "mnk_launch.h"
#if MNK_LAUNCH_VERSION != 1
#error "mnk_launch.h is of another export: take the one beside this file"
#endif

${enumText(names)}
${argsText(names)}

${arrays.text}
static const mnk_export ${prefix}_export = {
  ${imageHash}ull, ${image.bytes.length}, ${arrays.keptBytes},
  ${archOf(arch).join(", ")},
  ${counts.join(", ")},
  ${arrays.names.join(", ")},
};

${functionsText(names)}

#endif
`;
}
