/**
 * Keeps the choices of the page in the part of its address behind `#`, so that a view can be
 * sent to somebody, and finds the entries that they show.
 *
 * @module
 */

import { type Entry, isFailed } from "./book.ts";

/** Every choice. Empty texts mean all, or what the page prefers. */
export interface State {
  readonly suite: string;
  readonly device: string;
  readonly shape: string;
  /** A status of the CSV, `failed` or `suspect`. */
  readonly status: string;
  readonly verdict: string;
  /** Kernels that are not shown. */
  readonly hidden: readonly string[];
  readonly baseline: string;
  readonly view: "pivot" | "rows";
  /** The column that the table is sorted by, in the way of the view. */
  readonly sort: string;
  readonly descending: boolean;
  readonly page: number;
  /** The suite and device that charts are of. */
  readonly family: string;
  readonly log: boolean;
  /** Charts have every kernel, not the fastest alone. */
  readonly all: boolean;
}

/** The state of a page that was just opened. */
export const INITIAL: State = {
  suite: "",
  device: "",
  shape: "",
  status: "",
  verdict: "",
  hidden: [],
  baseline: "",
  view: "pivot",
  sort: "",
  descending: false,
  page: 0,
  family: "",
  log: false,
  all: false,
};

/** Returns `state` as text: what differs from {@linkcode INITIAL}. */
export function formatState(state: State): string {
  const params = new URLSearchParams();
  for (const name of Object.keys(INITIAL) as (keyof State)[]) {
    const value = state[name];
    if (Array.isArray(value)) {
      for (const part of value) params.append(name, part);
    } else if (value !== INITIAL[name]) params.set(name, `${value}`);
  }
  return params.toString();
}

/** Returns the state in `text`; what it does not say is as in {@linkcode INITIAL}. */
export function parseState(text: string): State {
  const params = new URLSearchParams(text);
  const read = (name: keyof State): State[keyof State] => {
    const initial = INITIAL[name];
    if (Array.isArray(initial)) return params.getAll(name);
    const word = params.get(name) ?? "";
    if (typeof initial === "boolean") return word === "true";
    if (typeof initial === "number") return /^\d{1,9}$/.test(word) ? +word : 0;
    return name === "view" && word !== "rows" ? "pivot" : word;
  };
  const names = Object.keys(INITIAL) as (keyof State)[];
  const entries = names.map((name) => [name, read(name)] as const);
  return Object.fromEntries(entries) as object as State;
}

/** A filter that was typed: a test, or what is wrong with it. */
type ShapeFilter =
  | { readonly test: (entry: Entry) => boolean }
  | { readonly wrong: string };

const COMPARED = /^([a-z_]\w*)(>=|<=|=|<|>)(.*)$/;
const SIZES = /^(\d+|\*)x(\d+|\*)(?:x(\d+|\*))?$/;

const COMPARE: Readonly<Record<string, (a: number, b: number) => boolean>> = {
  ">=": (a, b) => a >= b,
  "<=": (a, b) => a <= b,
  ">": (a, b) => a > b,
  "<": (a, b) => a < b,
};

/**
 * Reads `16x16x*`, conditions on any axis such as `k>=16384` and `mode=affine|mxfp4`, or any
 * part of a shape's name, separated by blanks: an entry must meet all of them.
 */
export function parseShape(text: string): ShapeFilter {
  const tests: ((entry: Entry) => boolean)[] = [];
  for (const word of text.toLowerCase().replaceAll("×", "x").split(/\s+/)) {
    if (word === "") continue;
    const [, axis = "", sign = "", list = ""] = COMPARED.exec(word) ?? [];
    const sizes = SIZES.exec(word)?.slice(1);
    if (axis !== "") {
      const values = list.split("|");
      if (values.some((value) => !fits(value, sign))) {
        return { wrong: `“${word}” compares with no number: try k>=16384` };
      }
      tests.push(({ shape: { point } }) => {
        const own = point[axis]?.toLowerCase();
        return own !== undefined &&
          values.some((value) =>
            sign === "="
              ? own === value
              : COMPARE[sign]!(Number(own), Number(value))
          );
      });
    } else if (sizes) {
      tests.push((entry) => {
        const own = plainName(entry).split(" ")[0]!.split("x");
        return own.every((size, i) =>
          [undefined, "*", size].includes(sizes[i])
        );
      });
    } else tests.push((entry) => plainName(entry).includes(word));
  }
  return { test: (entry) => tests.every((test) => test(entry)) };
}

/** Returns whether `value` may follow `sign`. */
function fits(value: string, sign: string): boolean {
  return sign === "=" ? value !== "" : /^\d+(\.\d+)?$/.test(value);
}

function plainName({ shape: { label } }: Entry): string {
  return label.toLowerCase().replaceAll("×", "x");
}

/** Kinds of outcomes besides the statuses themselves. */
const KINDS: Readonly<Record<string, (entry: Entry) => boolean>> = {
  failed: isFailed,
  suspect: ({ suspect }) => suspect,
};

/** Returns the entries that the filters of `state` let through. A wrong shape hides none. */
export function filtered(entries: readonly Entry[], state: State): Entry[] {
  const shape = parseShape(state.shape);
  const hidden = new Set(state.hidden);
  const kind = KINDS[state.status] ??
    ((entry: Entry) => entry.status === state.status);
  return entries.filter((entry) =>
    (state.suite === "" || entry.suite === state.suite) &&
    (state.device === "" || entry.device === state.device) &&
    (state.verdict === "" || entry.verdict === state.verdict) &&
    (state.status === "" || kind(entry)) &&
    !hidden.has(entry.kernel) &&
    ("wrong" in shape || shape.test(entry))
  );
}
