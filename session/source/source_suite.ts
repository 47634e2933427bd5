/**
 * Makes a suite of one source file: its kernel beside the built-in ones. Entry, operation, type
 * and launch shape are inferred; a comment `mnkbench: block=16,16 grid=n/16,m/16` in the file, or
 * the same after a `?` in its name, says what cannot be.
 *
 * @module
 */

import { basename, extname, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { type Arg, f32, i32, i64, mem } from "../../bench/device/queue.ts";
import type { Scalar, Values } from "../../bench/model/grid.ts";
import { defineLaunch } from "../../bench/model/kernel.ts";
import type { Operands } from "../../bench/model/problem.ts";
import { matmul } from "../../kernels/matmul/mod.ts";
import { hasBias, type MatmulPoint } from "../../kernels/matmul/point.ts";
import { functionsIn, partsOf, type SourceFunction } from "./functions.ts";
import {
  formatFixed,
  type Inferred,
  nameOf,
  readSource,
  refusing,
  suiteOf,
} from "./inferred.ts";
import { launchOf } from "./launch.ts";
import { inferPython, isPython } from "./python.ts";
import {
  formatTaken,
  type ParameterRole,
  type Role,
  type Signature,
  signatureOf,
} from "./roles.ts";
import {
  excerpt,
  isName,
  NO_NAME,
  type Refuse,
  settingsOf,
} from "./settings.ts";

type Backend = "cpu" | "cuda" | "hip" | "metal";

const BACKENDS: Readonly<Record<string, Backend>> = {
  ".c": "cpu",
  ".cu": "cuda",
  ".hip": "hip",
  ".metal": "metal",
};

function pathOf(name: string): string {
  return name.replace(/(?<=\.(?:c|cu|hip|metal))\?\w+=[^?]*$/, "");
}

/** What can be the entry of a source, by backend. */
const ENTRIES: Readonly<Record<Backend, string>> = {
  cpu: "function that is not static",
  cuda: '`extern "C" __global__` function',
  hip: '`extern "C" __global__` function',
  metal: "`kernel` function",
};

/**
 * Reads the source file `name` and infers its suite.
 *
 * @throws {UserError} Where it cannot be read, or something cannot be inferred, with what to add.
 */
export function inferSource(name: string): Inferred {
  if (isPython(name)) return inferPython(name);
  const path = pathOf(name);
  const file = basename(path);
  // A file may be named `.c`, in whole.
  const ending = extname(`_${file}`);
  const backend = BACKENDS[ending]!;
  const refuse = refusing(path);
  const text = readSource(path, refuse);
  const { code, comments } = partsOf(text, backend);
  const suffix = name.slice(path.length + 1);
  const { entry, block, grid, shared, axes } = settingsOf(
    ...[text, comments, suffix, refuse] as const,
  );
  const [chosen, signature] = chooseEntry(functionsIn(code), {
    entry,
    backend,
    refuse,
  });
  const { type, typeB, typeC } = signature;
  const epilogue = has(signature, "bias") ? "bias" : "none";
  const others = {
    ...(typeB && { type_b: typeB }),
    ...(typeC && { type_c: typeC }),
  };
  const all = { type, ...others, epilogue, ...axes };
  const against = contradiction(signature, all);
  if (against !== undefined) {
    refuse(
      `${against[0]} contradicts the parameters of ${chosen.name}: ${
        against[1]
      }`,
    );
  }
  const launch = launchOf(chosen, {
    backend,
    code,
    block,
    grid,
    shared,
    refuse,
  });
  const kernel = defineLaunch(matmul, {
    name: nameOf(chosen.name, backend, ending),
    backend,
    source: pathToFileURL(resolve(path)),
    entry: chosen.name,
    idea: file,
    takes: typeB || typeC ? ["types"] : [],
    unsupported: (point) => unsupportedBy(signature, point),
    ...(launch && { shape: (point: MatmulPoint) => launch.shape(point) }),
    args: (point, operands) =>
      signature.taken.map((one) => argOf(one, point, operands)),
  });
  return {
    suite: suiteOf(kernel, {
      path,
      fixed: all,
      padding: STRIDES.filter((name) => has(signature, name)),
    }),
    kernel: kernel.name,
    backend,
    note: `${file}: ${chosen.name}(${
      signature.taken.map(formatTaken).join(", ")
    }) is a matmul in ${all.type}${formatFixed(all)}${
      launch ? `, ${launch.text}` : ""
    }${
      signature.isOrderAssumed
        ? "; the order A, B, C of its pointers is assumed, as none is const"
        : ""
    }${
      // As BLAS defines it. C has NaN before a call, and 0 times NaN is NaN.
      has(signature, "beta") ? "; beta is 0, so it must not read C" : ""}`,
  };
}

function chooseEntry(
  functions: readonly SourceFunction[],
  { entry, backend, refuse }: {
    readonly entry: string | undefined;
    readonly backend: Backend;
    readonly refuse: Refuse;
  },
): readonly [SourceFunction, Signature] {
  const what = ENTRIES[backend];
  const isCpp = backend === "cuda" || backend === "hip";
  const kernels = functions.filter(({ name, head }) =>
    backend === "cpu"
      ? name !== "main" && !/\b(?:static|inline)\b/.test(head)
      : (isCpp ? /\b__global__\b/ : /\bkernel\b/).test(head)
  );
  const linked = kernels.filter(({ isExternC }) => isExternC || !isCpp);
  const named = entry === undefined
    ? linked
    : linked.filter(({ name }) => name === entry);
  const [bare] = kernels.filter((one) =>
    !linked.includes(one) && (entry ?? one.name) === one.name
  );
  if (named.length === 0 && bare) {
    return refuse(
      `${
        excerpt(bare.name)
      } has C++ linkage; write \`extern "C"\` before its \`__global__\``,
    );
  }
  if (named.length === 0) {
    const names = linked.map(({ name }) => name).join(", ");
    return refuse(
      entry !== undefined && names !== ""
        ? `no ${what} is named ${entry}: there are ${excerpt(names, 200)}`
        : `it has no ${what} that can be read: templates, macros and K&R definitions are not; write it out, or write a suite file (docs/guide/adding-a-kernel.md)`,
    );
  }
  const read = named.map((one) => [one, signatureOf(one.parameters)] as const);
  const fits = read.flatMap(([one, signature]) =>
    typeof signature === "string" ? [] : [[one, signature] as const]
  );
  if (fits.length === 1) {
    const [{ name }] = fits[0]!;
    if (!isName(name)) refuse(`the name ${excerpt(name)} is ${NO_NAME}`);
    return fits[0]!;
  }
  if (fits.length > 1) {
    return refuse(
      `it has ${fits.length} entries, ${
        excerpt(fits.map(([{ name }]) => name).join(", "), 200)
      }; choose one with --entry`,
    );
  }
  const reasons = read.slice(0, 5).map(([{ name }, why]) =>
    `of ${excerpt(name)}, ${why}`
  );
  if (read.length > 5) reasons.push(`and so on, ${read.length} in all`);
  return refuse(
    `no function is called as (A, B, [bias,] C, M, N, K[, lda, ldb, ldc]): ${
      reasons.join("; ")
    }; change the parameters of one, or write a suite file`,
  );
}

function canBe({ type, isRaw }: Signature, wanted: Scalar): boolean {
  return wanted === type || (isRaw && wanted === "f16");
}

/** Names the matrices that have the type of A, for a sentence. */
function nameOfTyped({ typeB, typeC }: Signature): string {
  return typeB || typeC ? "A is" : "matrices are";
}

function has({ taken }: Signature, role: Role): boolean {
  return taken.some((one) => one.role === role);
}

/** Returns which of the values of axes a function of this signature never has, and why. */
function contradiction(
  signature: Signature,
  axes: Values,
): readonly [value: string, why: string] | undefined {
  const { type } = signature;
  if (!canBe(signature, axes.type!)) {
    return [`type=${axes.type}`, `its ${nameOfTyped(signature)} ${type}`];
  }
  const typed = OTHER_TYPES.find(([name, key]) =>
    axes[name] !== undefined && axes[name] !== (signature[key] ?? axes.type)
  );
  if (typed) {
    const [name, key, matrix] = typed;
    return [
      `${name}=${axes[name]}`,
      `its ${matrix} is ${signature[key] ?? axes.type}`,
    ];
  }
  const bias = has(signature, "bias");
  if (bias !== `${axes.epilogue}`.startsWith("bias")) {
    return [
      `epilogue=${axes.epilogue}`,
      bias ? "it adds a bias" : "it takes no bias",
    ];
  }
  const stride = STRIDES.find((name) =>
    axes[name] !== undefined && !has(signature, name)
  );
  return stride && [`${stride}=${axes[stride]}`, `it takes no ${stride}`];
}

const STRIDES = ["lda", "ldb", "ldc"] as const;

/** Axes of the types of matrices besides A, and what a signature and people call these. */
const OTHER_TYPES = [
  ["type_b", "typeB", "B"],
  ["type_c", "typeC", "C"],
] as const;

/** Returns why a function of this signature cannot run at a point. */
function unsupportedBy(
  signature: Signature,
  point: MatmulPoint,
): string | undefined {
  if (!canBe(signature, point.type)) {
    return `its ${nameOfTyped(signature)} ${signature.type}`;
  }
  for (const [, key, matrix] of OTHER_TYPES) {
    const own = signature[key] ?? point.type;
    if ((point[key] ?? point.type) !== own) return `its ${matrix} is ${own}`;
  }
  const { m, n, k, lda, ldb, ldc, layout } = point;
  if (has(signature, "size") && (m !== n || n !== k)) {
    return "it takes one size, so M, N and K must be equal";
  }
  const dense = { lda: k, ldb: layout === "nn" ? n : k, ldc: n };
  const given = { lda, ldb, ldc };
  for (const name of STRIDES) {
    if (!has(signature, name) && given[name] !== dense[name]) {
      return `it takes no ${name}`;
    }
  }
  if (has(signature, "bias") === hasBias(point)) return undefined;
  return has(signature, "bias") ? "it adds a bias" : "it takes no bias";
}

function argOf(
  { role, bytes }: ParameterRole,
  point: MatmulPoint,
  operands: Operands,
): Arg {
  switch (role) {
    case "A":
    case "B":
    case "C":
    case "bias":
      return mem(operands[role]!);
    case "alpha":
    case "beta": {
      const value = role === "alpha" ? 1 : 0;
      return bytes === 8 ? { kind: "f64", value } : f32(value);
    }
    default: {
      const value = point[role === "size" ? "m" : role];
      return bytes === 8 ? i64(value) : i32(value);
    }
  }
}
