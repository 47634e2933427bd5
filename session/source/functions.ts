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

/** A comment. */
export interface Comment {
  /** Without what opens and closes it. */
  readonly text: string;
  /** Where it begins in the source. */
  readonly at: number;
}

/** A source, taken apart. */
export interface Parts {
  /** The code without comments, the contents of strings, and what `#if` switches off. */
  readonly code: string;
  readonly comments: readonly Comment[];
}

/**
 * Comments, raw strings, strings and characters. What is never closed ends with its line or with
 * the source, so that no character is read twice. The `'` in 1'000 opens nothing.
 */
const TOKENS =
  /\/\*([^]*?)(?:\*\/|$)|\/\/((?:[^\\\n]+|\\[^])*)|\b(?:u8|[uUL])?R"([^()\\\s"]{0,16})\([^]*?(?:\)\3"|$)|"(?:[^"\\\n]+|\\[^])*"?|(?<![\da-fA-F])'(?:[^'\\\n]+|\\[^])*'?/g;

/** Takes the code of a source of `backend` and its comments apart. */
export function partsOf(text: string, backend: string): Parts {
  const comments: Comment[] = [];
  const code = text.replaceAll(TOKENS, (found, block, line, _, at) => {
    if (found.startsWith("/")) {
      comments.push({ text: block ?? line ?? "", at: Number(at) });
      return " ";
    }
    return found === '"C"' ? found : found.startsWith("'") ? "0" : '""';
  });
  return { code: withoutDeadLines(code, backend), comments };
}

/** Macros that compilers define, by the backends whose compilers do. */
const PREDEFINED: ReadonlyMap<string, readonly string[]> = new Map([
  ["__cplusplus", ["cuda", "hip", "metal"]],
  ["__CUDACC__", ["cuda"]],
  ["__CUDA_ARCH__", ["cuda"]],
  ["__HIPCC__", ["hip"]],
  ["__METAL_VERSION__", ["metal"]],
]);
/** Characters of a condition that is read. */
const LONGEST = 200;
/** Names of compilers and their headers. */
const RESERVED = /^(?:_|CUDA|CUDNN|HIP|M_|NDEBUG$)/;

/** The macros of a source, as far as they are known. */
class Macros {
  /** Their texts; undefined for one that may be defined. */
  readonly #texts = new Map<string, string | undefined>();
  readonly #undefined = new Set<string>();
  /** Whether a file of the user's own may define more. */
  readonly #isOpen: boolean;

  constructor(code: string, readonly backend: string) {
    this.#isOpen = /^[ \t]*#[ \t]*include[ \t]*"/m.test(code);
  }

  /** Takes note of a `#define` or `#undef`, which may be switched off where not `isSure`. */
  take(line: string, isSure: boolean): void {
    const [, word, name, text = ""] =
      /^\s*#\s*(define|undef)\s+(\w+)(.*)/.exec(line) ?? [];
    if (word === undefined) return;
    const isDefined = word === "define";
    this.#undefined.delete(name!);
    if (isDefined || !isSure) {
      this.#texts.set(name!, isSure ? text.trim() : undefined);
    } else {
      this.#texts.delete(name!);
      this.#undefined.add(name!);
    }
  }

  /** Returns whether `name` is defined; nothing where that is not known. */
  isDefined(name: string): boolean | undefined {
    if (this.#undefined.has(name)) return false;
    if (this.#texts.has(name)) {
      return this.#texts.get(name) === undefined ? undefined : true;
    }
    const backends = PREDEFINED.get(name);
    if (backends) return backends.includes(this.backend);
    return this.#isOpen || RESERVED.test(name) ? undefined : false;
  }

  /** Returns whether the condition of `#if` or `#elif` holds; nothing where that is not known. */
  holds(text: string): boolean | undefined {
    if (text.length > LONGEST) return undefined;
    const [, not, name, value] =
      /^\s*(!?)\s*(?:defined\s*\(?\s*(\w+)\s*\)?|(\w+))\s*$/.exec(text) ?? [];
    const found = name !== undefined
      ? this.isDefined(name)
      : value !== undefined
      ? this.#isTrue(value)
      : undefined;
    return found === undefined ? undefined : found !== (not === "!");
  }

  /** Returns whether a number, or a macro whose text is one, is not 0. */
  #isTrue(word: string): boolean | undefined {
    const text = /^\d/.test(word) ? word : this.#texts.get(word);
    if (text !== undefined) {
      return /^\d+$/.test(text) ? Number(text) !== 0 : undefined;
    }
    return this.isDefined(word) === false ? false : undefined;
  }
}

/** A part of the code between `#if` and `#endif`; what is undefined is not known. */
interface Branch {
  /** Whether it is compiled. */
  isOn: boolean | undefined;
  /** Whether it, or one before it, is compiled. */
  isTaken: boolean | undefined;
}

/**
 * Leaves out what `#if` and its like switch off. Where a condition is not known, as one of another
 * compiler's macros, all branches stay.
 */
function withoutDeadLines(code: string, backend: string): string {
  const macros = new Macros(code, backend);
  /** Of each `#if` around a line. */
  const around: Branch[] = [];
  /** How many of them are off, and how many are not known. */
  const counts = { off: 0, unknown: 0 };
  const count = ({ isOn }: Branch, by: 1 | -1) => {
    if (isOn !== true) counts[isOn === false ? "off" : "unknown"] += by;
  };
  return code.split("\n").filter((line) => {
    const [, word, rest = ""] =
      /^\s*#\s*(if|ifn?def|elif|else|endif)\b(.*)/.exec(line) ?? [];
    if (word === undefined) {
      if (counts.off === 0) macros.take(line, counts.unknown === 0);
      return counts.off === 0;
    }
    if (word.startsWith("if")) {
      const not = word === "ifndef" ? "!" : "";
      const isOn = macros.holds(
        word === "if" ? rest.trim() : `${not}defined(${rest.trim()})`,
      );
      const branch = { isOn, isTaken: isOn };
      around.push(branch);
      count(branch, 1);
      return false;
    }
    const last = around.at(-1);
    if (last === undefined) return false;
    count(last, -1);
    if (word === "endif") {
      around.pop();
      return false;
    }
    const holds = word === "else" ? true : macros.holds(rest.trim());
    if (last.isTaken) last.isOn = false;
    else {
      // One before it may be compiled in its place.
      last.isOn = holds && last.isTaken === undefined ? undefined : holds;
      if (holds !== false) last.isTaken = holds;
    }
    count(last, 1);
    return false;
  }).join("\n");
}

/**
 * Returns the functions that `code` of {@linkcode partsOf} defines, outside of classes, in their
 * order. Of several definitions of one name, as after an `#if` that is not known, it is the last.
 */
export function functionsIn(code: string): readonly SourceFunction[] {
  const text = code.replaceAll(/^[ \t]*#(?:[^\n]*\\\n)*[^\n]*/gm, "");
  const found = new Map<string, SourceFunction>();
  /** Blocks around what is read: whether they say `extern "C"`. */
  const around: boolean[] = [];
  let linkages = 0;
  let from = 0;
  for (let at = 0; at < text.length; at++) {
    const char = text[at];
    if (char === ";" || char === "}") {
      if (char === "}" && around.pop()) linkages--;
      from = at + 1;
    } else if (char === "{") {
      const head = text.slice(from, at).trim();
      const last = head.slice(-MOST_WORDS);
      const isLinkage = /\bextern\s*"C"$/.test(last);
      if (isLinkage || /\bnamespace\b[\w\s:]*$/.test(last)) {
        around.push(isLinkage);
        if (isLinkage) linkages++;
      } else {
        const end = endOfBlock(text, at);
        const one = functionOf(head, text.slice(at + 1, end));
        if (one) {
          const own = /\bextern\s*"C"/.test(head);
          found.delete(one.name);
          found.set(one.name, { ...one, isExternC: own || linkages > 0 });
        }
        at = end;
      }
      from = at + 1;
    }
  }
  return [...found.values()];
}

/** Characters before a brace that tell whether it opens a namespace. */
const MOST_WORDS = 300;

/** Returns where the block that starts at `start` ends; the end of `code` where it does not. */
function endOfBlock(code: string, start: number): number {
  let depth = 0;
  for (let at = start; at < code.length; at++) {
    if (code[at] === "{") depth++;
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
  const [name] = /(?<!\p{IDC}|\$)[\p{IDC}$]+$/u.exec(before) ?? [];
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
  const [, attribute] = /\[\[ ?([^[\]]*?) ?\]\]/.exec(text) ?? [];
  const plain = text.replace(/\[\[[^[\]]*\]\]/, "");
  const words = plain.replaceAll(/[*&]|\[[^[\]]*\]/g, " ")
    .replaceAll(QUALIFIERS, " ").trim().split(/\s+/);
  const isTypeOnly = words.length === 1 ||
    /^(?:int|long|short|char|unsigned|signed)$/.test(words.at(-1)!);
  return {
    text,
    name: isTypeOnly ? "" : words.at(-1)!,
    type: (isTypeOnly ? words : words.slice(0, -1)).join(" ") +
      (/[*[].*[*[]/.test(plain) ? " *" : ""),
    isPointer: /[*[]/.test(plain),
    ...(attribute === undefined ? {} : { attribute }),
    isConst: /\bconst\b/.test(text.split("*")[0]!),
  };
}
