/**
 * Damages the bytes of a file in ways that disks, editors and transfers do, and in ways that
 * people try: which way and where is decided by a seed alone.
 *
 * @module
 */

/** Returns numbers from 0 to 1, 1 excluded. */
export type Random = () => number;

/** A damaged file. */
export interface Damaged {
  /** The kind of damage. */
  readonly damage: string;
  readonly bytes: Uint8Array<ArrayBuffer>;
}

/** Returns the numbers of `seed`: an LCG of Numerical Recipes, mixed. */
export function randomOf(seed: number): Random {
  let state = seed >>> 0;
  return () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    let mixed = state ^ state >>> 16;
    mixed = Math.imul(mixed, 0x45d9f3b);
    return ((mixed ^ mixed >>> 16) >>> 0) / 2 ** 32;
  };
}

/** Returns a whole number from 0 to `count`, `count` excluded. */
export function below(random: Random, count: number): number {
  return Math.floor(random() * count);
}

/** Returns one of `items`. */
export function pick<T>(random: Random, items: readonly T[]): T {
  return items[below(random, items.length)]!;
}

type Change<T> = (content: T, random: Random) => T;

const NUMBER = /-?\d+(?:\.\d+)?(?:e[+-]?\d+)?/gi;
/** A field of a CSV, or a value or name of JSON. */
const TOKEN = /"(?:[^"\\\n]|\\.)*"|[^\s",:{}[\]]+/g;

const NUMBERS = [
  ...["-1", "0", "-0", "NaN", "Infinity", "-Infinity", "1e308", "-1e308"],
  ...["1e999", "1e-320", "4294967294", "9007199254740993", "3000000", "0x1f"],
  ...["1_000", "1,5", "٣", "１２", "1e5", "+3", " 7", '{"number":"NaN"}', "1n"],
];
const WORDS = [
  ...["", "null", "true", "[]", "{}", '""', '"x"', "[[1]]", '{"a":1}', "=1+1"],
  ...[
    '"\\u0000"',
    '"\\ud800"',
    "../../../x",
    "__proto__",
    "constructor",
    "\u202e",
  ],
];

/** Damage of bytes that may be anything. */
const OF_BYTES: Readonly<Record<string, Change<Uint8Array<ArrayBuffer>>>> = {
  "a bit flipped": (bytes, random) => {
    const at = below(random, bytes.length);
    const copy = bytes.slice();
    copy[at]! ^= 1 << below(random, 8);
    return copy;
  },
  "a byte changed": (bytes, random) =>
    bytes.with(below(random, bytes.length), below(random, 256)),
  "cut off": (bytes, random) => bytes.slice(0, below(random, bytes.length)),
  "a part removed": (bytes, random) => {
    const from = below(random, bytes.length);
    const count = 1 + below(random, 40);
    return joined(bytes.slice(0, from), bytes.slice(from + count));
  },
  "a part twice": (bytes, random) => {
    const from = below(random, bytes.length);
    const to = Math.min(bytes.length, from + 1 + below(random, 40));
    return joined(bytes.slice(0, to), bytes.slice(from));
  },
  "zeros written over": (bytes, random) =>
    bytes.slice().fill(0, below(random, bytes.length)),
  "something appended": (bytes, random) =>
    joined(bytes, textBytes(pick(random, ["x", "\0", "\n\n", "}", '"', ","]))),
  "a NUL put in": (bytes, random) => inserted(bytes, "\0", random),
  "a carriage return put in": (bytes, random) => inserted(bytes, "\r", random),
  "bytes that are no UTF-8": (bytes, random) => {
    const at = below(random, bytes.length);
    const odd = new Uint8Array([0xff, 0xc3, 0x28]);
    return joined(bytes.slice(0, at), odd, bytes.slice(at));
  },
};

/** Damage of text. */
const OF_TEXT: Readonly<Record<string, Change<string>>> = {
  "a digit changed": (text, random) =>
    replaced(text, /\d/g, random, () => `${below(random, 10)}`),
  "another number": (text, random) =>
    replaced(text, NUMBER, random, () => pick(random, NUMBERS)),
  "a number scaled": (text, random) =>
    replaced(
      text,
      NUMBER,
      random,
      (number) => `${Number(number) * pick(random, [10, 0.1, -1, 1.01])}`,
    ),
  "another value": (text, random) =>
    replaced(text, TOKEN, random, () => pick(random, WORDS)),
  "values swapped": (text, random) => {
    const tokens = [...text.matchAll(TOKEN)];
    if (tokens.length < 2) return text;
    const at = below(random, tokens.length - 1);
    const [a, b] = [tokens[at]!, tokens[at + 1]!];
    return text.slice(0, a.index) + b[0] +
      text.slice(a.index + a[0].length, b.index) + a[0] +
      text.slice(b.index + b[0].length);
  },
  "a line removed": (text, random) =>
    onLines(text, (lines) => lines.toSpliced(below(random, lines.length), 1)),
  "a line twice": (text, random) =>
    onLines(text, (lines) => {
      const at = below(random, lines.length);
      return lines.toSpliced(at, 0, lines[at]!);
    }),
  "lines swapped": (text, random) =>
    onLines(text, (lines) => {
      const at = below(random, lines.length);
      const [line = ""] = lines.splice(at, 1);
      return lines.toSpliced(below(random, lines.length + 1), 0, line);
    }),
  "a line cut off": (text, random) =>
    onLines(text, (lines) => {
      const at = below(random, lines.length);
      const line = lines[at]!;
      return lines.with(at, line.slice(0, below(random, line.length + 1)));
    }),
  "lines joined": (text, random) => replaced(text, /\n/g, random, () => ""),
  "a long value": (text, random) =>
    replaced(text, TOKEN, random, () => "x".repeat(1 << 20)),
  "a deep value": (text, random) => {
    const depth = 10 ** (1 + below(random, 6));
    const deep = "[".repeat(depth) + "]".repeat(depth);
    return replaced(text, TOKEN, random, () => deep);
  },
  "a quote put in": (text, random) => {
    const at = below(random, text.length);
    return `${text.slice(0, at)}"${text.slice(at)}`;
  },
  "a mark in front": (text) => `\ufeff${text}`,
  "lines ended by CR LF": (text) => text.replaceAll("\n", "\r\n"),
  "lines ended by CR": (text) => text.replaceAll("\n", "\r"),
};

/** Damages a binary file. */
export function damageBytes(
  bytes: Uint8Array<ArrayBuffer>,
  random: Random,
): Damaged {
  return damaged(bytes, OF_BYTES, random);
}

/** Damages a text: as bytes in one of four. */
export function damageText(text: string, random: Random): Damaged {
  if (below(random, 4) === 0) return damageBytes(textBytes(text), random);
  const { damage, bytes } = damaged(text, OF_TEXT, random);
  return { damage, bytes: textBytes(bytes) };
}

function damaged<T>(
  content: T,
  changes: Readonly<Record<string, Change<T>>>,
  random: Random,
): { readonly damage: string; readonly bytes: T } {
  const [damage, change] = pick(random, Object.entries(changes));
  return { damage, bytes: change(content, random) };
}

/** Replaces one match of `pattern`; nothing where there is none. */
function replaced(
  text: string,
  pattern: RegExp,
  random: Random,
  by: (match: string) => string,
): string {
  const matches = [...text.matchAll(pattern)];
  if (matches.length === 0) return text;
  const { 0: match, index } = pick(random, matches);
  return text.slice(0, index) + by(match) + text.slice(index + match.length);
}

function onLines(
  text: string,
  change: (lines: string[]) => readonly string[],
): string {
  const lines = text.replace(/\n$/, "").split("\n");
  return change(lines).map((line) => `${line}\n`).join("");
}

function inserted(
  bytes: Uint8Array<ArrayBuffer>,
  text: string,
  random: Random,
): Uint8Array<ArrayBuffer> {
  const at = below(random, bytes.length);
  return joined(bytes.slice(0, at), textBytes(text), bytes.slice(at));
}

function textBytes(text: string): Uint8Array<ArrayBuffer> {
  return new TextEncoder().encode(text);
}

function joined(...parts: readonly Uint8Array[]): Uint8Array<ArrayBuffer> {
  const whole = new Uint8Array(parts.reduce((sum, p) => sum + p.length, 0));
  let at = 0;
  for (const part of parts) {
    whole.set(part, at);
    at += part.length;
  }
  return whole;
}
