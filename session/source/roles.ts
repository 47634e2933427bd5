/**
 * Tells which operand or size of a matrix product each parameter of a function is.
 *
 * @module
 */

import type { MatmulPoint } from "../../kernels/matmul/point.ts";
import type { Parameter } from "./functions.ts";
import { excerpt } from "./settings.ts";

/** What a parameter gets. `size` is M, N and K at once, of square matrices. */
export type Role =
  | "A"
  | "B"
  | "bias"
  | "C"
  | typeof SIZES[number]
  | "size"
  | "alpha"
  | "beta";

const SIZES = ["m", "n", "k", "lda", "ldb", "ldc"] as const;

/** A parameter and what it gets. */
export interface ParameterRole {
  readonly role: Role;
  /** Its name in the source; empty where it has none. */
  readonly name: string;
  /** Bytes of an integer or a scalar. */
  readonly bytes: 4 | 8;
}

/** The signature of a matrix product. */
export interface Signature {
  readonly taken: readonly ParameterRole[];
  /** Of A. */
  readonly type: MatmulPoint["type"];
  /** Of B, and of C and the bias, where it is another. */
  readonly typeB: MatmulPoint["type"] | undefined;
  readonly typeC: MatmulPoint["type"] | undefined;
  /** Whether neither `const` nor names tell A, B and C, and their usual order is assumed. */
  readonly isOrderAssumed: boolean;
  /** Whether A, and what has its type, may be of another type of that size. */
  readonly isRaw: boolean;
}

const TYPES: Readonly<Record<string, MatmulPoint["type"]>> = {
  float: "f32",
  float32_t: "f32",
  __nv_bfloat16: "bf16",
  nv_bfloat16: "bf16",
  __hip_bfloat16: "bf16",
  hip_bfloat16: "bf16",
  __bf16: "bf16",
  // The upper half of a float, unless another type is named.
  uint16_t: "bf16",
  "unsigned short": "bf16",
  ushort: "bf16",
  __half: "f16",
  half: "f16",
  bfloat: "bf16",
  _Float16: "f16",
  __fp16: "f16",
};

const RAW: readonly string[] = ["uint16_t", "unsigned short", "ushort"];

const LONG =
  /^(?:(?:unsigned )?long(?: long)?(?: int)?|size_t|ssize_t|ptrdiff_t|u?int64_t)$/;
const INTEGER = /^(?:(?:unsigned|signed)(?: int)?|int|u?int32_t|uint)$/;

/** Parameters of any matrix product, and of what MSL hands to one. */
const MOST = 64;

/** A reason why a function cannot be taken for a matrix product. */
class Unfit extends Error {}

/** Returns the signature of `parameters`, or why it is none of a matrix product. */
export function signatureOf(
  all: readonly Parameter[],
): Signature | string {
  if (all.length > MOST) return `it has ${all.length} parameters`;
  const parameters = buffersOf(all);
  try {
    const pointers = pointerRoles(parameters.filter((p) => p.isPointer));
    const sizes = sizeRoles(
      parameters.filter((p) => !p.isPointer && isInteger(p)),
    );
    const taken = parameters.map((one): ParameterRole => {
      const known = pointers.get(one) ?? sizes.get(one) ?? scalarOf(one);
      return { role: known, name: one.name, bytes: isWide(one) ? 8 : 4 };
    });
    const matrices = [...pointers.keys()];
    const own = matrices.filter((one) => pointers.get(one) !== "bias");
    const types = typesOf(pointers);
    const isRaw = matrices.some(isRawType) &&
      named16(matrices) === undefined;
    const isOrderAssumed = !["a", "b"].every((name) =>
      own.map(plain).includes(name)
    ) &&
      own.every(({ isConst }) => !isConst);
    return { taken, ...types, isOrderAssumed, isRaw };
  } catch (error) {
    if (!(error instanceof Unfit)) throw error;
    return error.message;
  }
}

/** The parameters that a caller passes: of MSL those of buffers, by their indices. */
function buffersOf(all: readonly Parameter[]): readonly Parameter[] {
  if (!all.some(({ attribute }) => attribute)) return all;
  const index = ({ attribute = "" }: Parameter) =>
    Number(/^buffer ?\( ?(\d+) ?\)$/.exec(attribute)?.[1] ?? NaN);
  return all.filter((one) => !Number.isNaN(index(one)))
    .toSorted((a, b) => index(a) - index(b));
}

function isInteger({ type }: Parameter): boolean {
  return LONG.test(type) || INTEGER.test(type);
}

function isWide({ type }: Parameter): boolean {
  return LONG.test(type) || type === "double";
}

/** The name of a parameter without what says where it is stored. */
function plain({ name }: Pick<Parameter, "name">): string {
  return name.toLowerCase().replace(/^(?:d|dev|g|p)_|_(?:d|dev|ptr)$|_+$/g, "");
}

/** Returns whether the names of `matrices` are A, B and C. */
function isNamed(matrices: readonly Parameter[]): boolean {
  return matrices.map(plain).toSorted().join() === "a,b,c";
}

/** Formats a parameter: `out=C`, or its role alone where its name is that or missing. */
export function formatTaken({ name, role }: ParameterRole): string {
  return name === "" || plain({ name }) === role.toLowerCase()
    ? role
    : `${name}=${role}`;
}

/** Returns `all` with A and B in front, where two of them have these names. */
function lettersFirst(all: readonly Parameter[]): readonly Parameter[] {
  const names = all.map(plain);
  const [a, b] = [all[names.indexOf("a")], all[names.indexOf("b")]];
  if (a === undefined || b === undefined) return all;
  return [a, b, ...all.filter((one) => one !== a && one !== b)];
}

function pointerRoles(
  pointers: readonly Parameter[],
): ReadonlyMap<Parameter, Role> {
  const bias = pointers.filter((one) => /bias/.test(plain(one)));
  const rest = pointers.filter((one) => !bias.includes(one));
  const letters = rest.map(plain);
  const constant = rest.filter(({ isConst }) => isConst);
  // Of three, `b` may be the bias.
  const read = constant.length === 2 ? lettersFirst(constant) : constant;
  const written = rest.filter(({ isConst }) => !isConst);
  if (bias.length <= 1 && isNamed(rest)) {
    return new Map([
      ...rest.map((one, i) =>
        [one, letters[i]!.toUpperCase() as Role] as const
      ),
      ...bias.map((one) => [one, "bias"] as const),
    ]);
  }
  const roles: Role[] = [
    "A",
    "B",
    ...(bias.length === 0 ? ["bias" as const] : []),
  ];
  if (written.length === 1 && read.length >= 2 && read.length <= roles.length) {
    return new Map([
      ...read.map((one, i) => [one, roles[i]!] as const),
      [written[0]!, "C"],
      ...bias.map((one) => [one, "bias"] as const),
    ]);
  }
  // Without `const` their order is that of the definition.
  if (bias.length === 0 && read.length === 0 && rest.length === 3) {
    return new Map(
      lettersFirst(rest).map((one, i) => [one, (["A", "B", "C"] as const)[i]!]),
    );
  }
  throw new Unfit(
    `it has ${pointers.length} pointers, of which A, B and C cannot be told`,
  );
}

function sizeRoles(
  integers: readonly Parameter[],
): ReadonlyMap<Parameter, Role> {
  const known = integers.map((one) =>
    SIZES.find((size) => size === plain(one))
  );
  if (integers.length === 1) return new Map([[integers[0]!, "size"]]);
  const roles = known.every((size) => size === undefined) &&
      (integers.length === 3 || integers.length === 6)
    ? SIZES.slice(0, integers.length)
    : known;
  const strange = integers.find((_, i) => roles[i] === undefined);
  if (strange) {
    throw new Unfit(
      `its parameter \`${
        excerpt(strange.text)
      }\` is none of M, N, K, lda, ldb and ldc`,
    );
  }
  const missing = SIZES.slice(0, 3).filter((size) => !roles.includes(size));
  if (missing.length > 0 || new Set(roles).size < roles.length) {
    throw new Unfit(
      `its integers are not M, N and K, with or without lda, ldb and ldc`,
    );
  }
  return new Map(integers.map((one, i) => [one, roles[i]!]));
}

function scalarOf(one: Parameter): Role {
  const name = plain(one);
  const isReal = one.type === "float" || one.type === "double";
  if (isReal && (name === "alpha" || name === "beta")) return name;
  throw new Unfit(
    `its parameter \`${excerpt(one.text)}\` has no meaning for a matmul`,
  );
}

function typeOf(one: Parameter): MatmulPoint["type"] {
  const type = Object.hasOwn(TYPES, one.type) ? TYPES[one.type] : undefined;
  if (type !== undefined) return type;
  throw new Unfit(
    `the type of \`${
      excerpt(one.text)
    }\` is none of float, bfloat16 and half; typedefs and macros are not read`,
  );
}

function isRawType({ type }: Parameter): boolean {
  return RAW.includes(type);
}

/** Returns the 16-bit type that one of `matrices` names, which raw ones beside it have too. */
function named16(
  matrices: readonly Parameter[],
): MatmulPoint["type"] | undefined {
  return matrices.filter((one) => !isRawType(one)).map(typeOf)
    .find((type) => type !== "f32");
}

/** Returns the types of matrices by their roles. @throws {Unfit} Where bias and C have two. */
function typesOf(
  roles: ReadonlyMap<Parameter, Role>,
): Pick<Signature, "type" | "typeB" | "typeC"> {
  const named = named16([...roles.keys()]);
  const of = (role: Role) => {
    const one = [...roles.keys()].find((key) => roles.get(key) === role);
    return one && (isRawType(one) && named ? named : typeOf(one));
  };
  const [type, b, c, bias] = [of("A")!, of("B"), of("C"), of("bias")];
  if (bias !== undefined && bias !== c) {
    throw new Unfit(
      `its bias has type ${bias} and its C ${c}, and matmul has one for both`,
    );
  }
  const other = (found: typeof b) => found === type ? undefined : found;
  return { type, typeB: other(b), typeC: other(c) };
}
