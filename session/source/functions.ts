/**
 * Finds the functions that a source of C, CUDA C++, HIP C++ or MSL defines.
 *
 * @module
 */

/** A parameter of a function. */
export interface Parameter {
  /** As it is written. */
  readonly text: string;
  /** The last word; empty where there is a type only. */
  readonly name: string;
  /** The type without qualifiers and stars: `float`, `unsigned int`. */
  readonly type: string;
  readonly isPointer: boolean;
  /** Whether it, or what it points to, is `const`. */
  readonly isConst: boolean;
  /** The attribute of MSL that says what it gets: `buffer(0)`. */
  readonly attribute?: string;
}

/** A function with a body. */
export interface SourceFunction {
  readonly name: string;
  /** What stands before its parameters: type, qualifiers, attributes, name. */
  readonly head: string;
  /** Whether it has C's linkage in C++, by itself or by a block around it. */
  readonly isExternC: boolean;
  readonly parameters: readonly Parameter[];
  readonly body: string;
}

/** Returns `text` without comments and lines of the preprocessor. */
export function withoutComments(text: string): string {
  return text
    .replaceAll(
      /"(?:\\.|[^"\\\n])*"|\/\*[^]*?\*\/|\/\/[^\n]*/g,
      (found) => found.startsWith('"') ? found : " ",
    )
    .replaceAll(/^[ \t]*#(?:[^\n]*\\\n)*[^\n]*/gm, "");
}

/** Returns the functions that `text` defines, outside of classes, in their order. */
export function functionsIn(text: string): readonly SourceFunction[] {
  const code = withoutComments(text);
  const found: SourceFunction[] = [];
  /** Blocks around what is read: whether they say `extern "C"`. */
  const around: boolean[] = [];
  let from = 0;
  for (let at = 0; at < code.length; at++) {
    const char = code[at];
    if (isQuote(code, at)) at = endOfQuote(code, at);
    else if (char === ";" || char === "}") {
      if (char === "}") around.pop();
      from = at + 1;
    } else if (char === "{") {
      const head = code.slice(from, at).trim();
      const isLinkage = /\bextern\s*"C"$/.test(head);
      if (isLinkage || /\bnamespace\b[\w\s:]*$/.test(head)) {
        around.push(isLinkage);
      } else {
        const end = endOfBlock(code, at);
        const one = functionOf(head, code.slice(at + 1, end));
        if (one) {
          const own = /\bextern\s*"C"/.test(head);
          found.push({ ...one, isExternC: own || around.includes(true) });
        }
        at = end;
      }
      from = at + 1;
    }
  }
  return found;
}

function isQuote(code: string, at: number): boolean {
  // Not the separator of 1'000.
  return code[at] === '"' ||
    (code[at] === "'" && !/\w/.test(code[at - 1] ?? ""));
}

function endOfQuote(code: string, start: number): number {
  let at = start + 1;
  while (at < code.length && code[at] !== code[start]) {
    at += code[at] === "\\" ? 2 : 1;
  }
  return at;
}

/** Returns where the block that starts at `start` ends; the end of `code` where it does not. */
function endOfBlock(code: string, start: number): number {
  let depth = 0;
  for (let at = start; at < code.length; at++) {
    if (isQuote(code, at)) at = endOfQuote(code, at);
    else if (code[at] === "{") depth++;
    else if (code[at] === "}" && --depth === 0) return at;
  }
  return code.length;
}

/** Returns the function of `head`; undefined where it is none, as of a type or a table. */
function functionOf(
  head: string,
  body: string,
): Omit<SourceFunction, "isExternC"> | undefined {
  if (!head.endsWith(")") || /^template\b/.test(head)) return undefined;
  let depth = 0;
  let at = head.length - 1;
  for (; at >= 0; at--) {
    if (head[at] === ")") depth++;
    else if (head[at] === "(" && --depth === 0) break;
  }
  const before = head.slice(0, at).trim();
  const [name] = /\w+$/.exec(before) ?? [];
  if (name === undefined) return undefined;
  const inside = head.slice(at + 1, -1).trim();
  const parameters = inside === "" || inside === "void"
    ? []
    : inside.split(",").map(parameterOf);
  return { name, head: before, parameters, body };
}

/** Words of a declaration that say nothing of its type. */
const QUALIFIERS =
  /\b(?:const|device|constant|volatile|restrict|__restrict__|__restrict|register|struct|__grid_constant__)\b/g;

function parameterOf(written: string): Parameter {
  const text = written.trim().replaceAll(/\s+/g, " ");
  const [, attribute] = /\[\[ ?(.*?) ?\]\]/.exec(text) ?? [];
  const plain = text.replace(/ ?\[\[.*?\]\]/, "");
  const words = plain.replaceAll(QUALIFIERS, " ").replaceAll(
    /[*&]|\[\w*\]/g,
    " ",
  )
    .trim().split(/\s+/);
  const isTypeOnly = words.length === 1 ||
    /^(?:int|long|short|char|unsigned|signed)$/.test(words.at(-1)!);
  return {
    text,
    name: isTypeOnly ? "" : words.at(-1)!,
    type: (isTypeOnly ? words : words.slice(0, -1)).join(" "),
    isPointer: /[*[]/.test(plain),
    ...(attribute === undefined ? {} : { attribute }),
    isConst: /\bconst\b/.test(text.split("*")[0]!),
  };
}
