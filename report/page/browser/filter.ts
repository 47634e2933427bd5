/**
 * Chooses the entries that are shown.
 *
 * @module
 */

import { type Entry, isFailed } from "./book.ts";
import type { State } from "./state.ts";

/** A filter that was typed: a test, or what is wrong with it. */
export type ShapeFilter =
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
