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
  /** The code without comments, the contents of strings, and `#if 0`. */
  readonly code: string;
  readonly comments: readonly Comment[];
}

/**
 * Comments, raw strings, strings and characters. What is never closed ends with its line or with
 * the source, so that no character is read twice. The `'` in 1'000 opens nothing.
 */
const TOKENS =
  /\/\*([^]*?)(?:\*\/|$)|\/\/((?:[^\\\n]+|\\[^])*)|\b(?:u8|[uUL])?R"([^()\\\s"]{0,16})\([^]*?(?:\)\3"|$)|"(?:[^"\\\n]+|\\[^])*"?|(?<![\da-fA-F])'(?:[^'\\\n]+|\\[^])*'?/g;

/** Takes the code of a source and its comments apart. */
export function partsOf(text: string): Parts {
  const comments: Comment[] = [];
  const code = text.replaceAll(TOKENS, (found, block, line, _, at) => {
    if (found.startsWith("/")) {
      comments.push({ text: block ?? line ?? "", at: Number(at) });
      return " ";
    }
    return found === '"C"' ? found : found.startsWith("'") ? "0" : '""';
  });
  return { code: withoutDeadLines(code), comments };
}

/** Leaves out what `#if 0`, or `#if 1` by its `#else`, switches off. */
function withoutDeadLines(code: string): string {
  /** Of each `#if` around a line: whether the line is switched off, and what its `#else` is. */
  const around: { isOff: boolean; isElseOff: boolean }[] = [];
  let off = 0;
  const turn = (isOff: boolean) => {
    const last = around.at(-1);
    if (last === undefined || last.isOff === isOff) return;
    last.isOff = isOff;
    off += isOff ? 1 : -1;
  };
  return code.split("\n").filter((line) => {
    const [, word, rest = ""] =
      /^\s*#\s*(if|ifn?def|elif|else|endif)\b(.*)/.exec(line) ?? [];
    if (word === undefined) return off === 0;
    if (word.startsWith("if")) {
      const value = word === "if" ? rest.trim() : "";
      around.push({ isOff: false, isElseOff: value === "1" });
      turn(value === "0");
    } else if (word === "endif") {
      turn(false);
      around.pop();
    } else turn(around.at(-1)?.isElseOff ?? false);
    return false;
  }).join("\n");
}

/**
 * Returns the functions that `code` of {@linkcode partsOf} defines, outside of classes, in their
 * order. Of several definitions of one name, as after `#ifdef` and `#else`, it is the last.
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
