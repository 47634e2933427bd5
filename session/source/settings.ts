/**
 * Reads the settings of a source file: those of its comments that begin with `mnkbench:`, and
 * those after a `?` in its name.
 *
 * @module
 */

import { shortened } from "../../bench/files/terminal_text.ts";
import { allowedBy, notAllowed } from "../../bench/model/axes.ts";
import type { Scalar, Values } from "../../bench/model/grid.ts";
import { matmul } from "../../kernels/matmul/mod.ts";
import type { Comment } from "./functions.ts";

/** Throws the error for a source file, with the reason. */
export type Refuse = (why: string) => never;

/** What is said about a source rather than inferred from it. */
export interface Settings {
  readonly entry?: string;
  readonly block?: string;
  readonly grid?: string;
  readonly shared?: string;
  /** Values of axes other than the sizes. */
  readonly axes: Values;
}

/** An identifier of C that can name a kernel. */
const NAME = /^[a-z_]\w{0,95}$/i;
/** Characters of launch shapes; a comma may stand as an x. */
const SHAPE = /^[\dmnkx,*/]+$/i;
/** Characters of a size of shared memory. */
const BYTES = /^[\dmnk*/]+$/i;
const AXES = matmul.axes.filter(({ name }) => !["m", "n", "k"].includes(name));

/** Shortens `text` for errors, to `width` columns. */
export function excerpt(text: string, width = 60): string {
  return shortened(text.slice(0, 400), width);
}

/**
 * Returns the settings of a source. Those of `suffix`, such as `block=16x16&entry=mine`, take the
 * place of those in its comments.
 *
 * @throws {UserError} Where one is unknown, cannot be or is there twice.
 */
export function settingsOf(
  text: string,
  comments: readonly Comment[],
  suffix: string,
  refuse: Refuse,
): Settings {
  const own: Record<string, Scalar> = {};
  for (const comment of comments) {
    let at = comment.at;
    for (const line of comment.text.split("\n")) {
      const [, words] = /^[\s*/!<]*mnkbench:(.*)$/.exec(line) ?? [];
      const start = at;
      addTo(own, words?.split(/\s+/) ?? [], (why) =>
        refuse(
          `line ${text.slice(0, start).split("\n").length}: ${why}`,
        ));
      at += line.length + 1;
    }
  }
  const given: Record<string, Scalar> = {};
  addTo(given, suffix.split("&"), refuse);
  const { entry, block, grid, shared, ...axes } = { ...own, ...given };
  return {
    ...Object.fromEntries(
      Object.entries({ entry, block, grid, shared }).filter(([, value]) =>
        value !== undefined
      ),
    ),
    axes,
  };
}

function addTo(
  settings: Record<string, Scalar>,
  words: readonly string[],
  refuse: Refuse,
): void {
  for (const word of words.filter((one) => one !== "")) {
    const [, name, value] = /^(\w+)=(.+)$/.exec(word) ??
      refuse(
        `\`${
          excerpt(word)
        }\` is no setting: write name=value after \`mnkbench:\`, such as block=16,16`,
      );
    if (Object.hasOwn(settings, name!)) refuse(`${name} is set twice`);
    settings[name!] = valueOf(name!, value!, refuse);
  }
}

function valueOf(name: string, value: string, refuse: Refuse): Scalar {
  if (name === "entry") {
    if (NAME.test(value)) return value;
    return refuse(`the entry ${excerpt(value)} is ${NO_NAME}`);
  }
  if (name === "block" || name === "grid") {
    if (SHAPE.test(value)) return value;
    return refuse(notShape(value, name));
  }
  if (name === "shared") {
    if (BYTES.test(value)) return value;
    return refuse(notBytes(value));
  }
  if (/^[mnk]$/.test(name)) {
    return refuse(`${name} is no setting: give sizes by --m, --n and --k`);
  }
  const axis = AXES.find((one) => one.name === name) ??
    refuse(
      `there is no setting ${
        excerpt(name)
      }: there are entry, block, grid, shared, ${
        AXES.map((one) => one.name).join(", ")
      }`,
    );
  const found = allowedBy(axis, /^\d+$/.test(value) ? Number(value) : value);
  if (found !== undefined) return found;
  return refuse(notAllowed(axis, excerpt(value), "--axis").message);
}

/** What an entry is that cannot name a kernel. */
export const NO_NAME =
  "not made of letters, digits and _, at most 96: rename it";

/** Returns whether a function of this name can be a kernel. */
export function isName(name: string): boolean {
  return NAME.test(name);
}

/** Says that `text` is no number of bytes of shared memory. */
export function notBytes(text: string): string {
  return `${
    excerpt(text)
  } is no size of shared memory: give bytes, or a product or quotient of m, n, k and numbers, such as k*2`;
}

/** Says that `text` is no launch shape. */
export function notShape(text: string, what: "block" | "grid"): string {
  return `${
    excerpt(text)
  } is no ${what}: give one to three numbers, or products and quotients of m, n, k and numbers, such as n/64,m/64; quotients are rounded up`;
}
