/**
 * Which entries are shown.
 *
 * @module
 */

import type { Entry } from "./entry.ts";
import { isFailed } from "./compare.ts";
import type { State } from "./state.ts";

/** A filter that was typed: a test, or what is wrong with it. */
export type ShapeFilter =
  | { readonly test: (entry: Entry) => boolean }
  | { readonly wrong: string };

const COMPARED = /^([mnk])(>=|<=|=|<|>)(.*)$/;
const SIZES = /^(\d+|\*)x(\d+|\*)(?:x(\d+|\*))?$/;

const COMPARE: Readonly<Record<string, (a: number, b: number) => boolean>> = {
  "=": (a, b) => a === b,
  ">=": (a, b) => a >= b,
  "<=": (a, b) => a <= b,
  ">": (a, b) => a > b,
  "<": (a, b) => a < b,
};

/**
 * Reads `16x16x*`, `k>=16384`, `m=16|32` or any part of a shape's name, separated by
 * blanks: an entry must meet all of them.
 */
export function parseShape(text: string): ShapeFilter {
  const tests: ((entry: Entry) => boolean)[] = [];
  for (const word of text.toLowerCase().replaceAll("×", "x").split(/\s+/)) {
    if (word === "") continue;
    const compared = COMPARED.exec(word);
    const sizes = SIZES.exec(word);
    if (compared) {
      const [, axis = "", sign = "", list = ""] = compared;
      const numbers = list.split("|").map((part) =>
        /^\d+$/.test(part) ? Number(part) : NaN
      );
      if (numbers.some(Number.isNaN)) {
        return { wrong: `“${word}” compares with no number: try k>=16384` };
      }
      tests.push((entry) =>
        numbers.some((number) =>
          COMPARE[sign]!(entry[axis as "m" | "n" | "k"], number)
        )
      );
    } else if (sizes) {
      const wanted = sizes.slice(1);
      tests.push(({ m, n, k }) =>
        [m, n, k].every((size, i) =>
          [undefined, "*", `${size}`].includes(wanted[i])
        )
      );
    } else {
      tests.push(({ shape }) =>
        shape.toLowerCase().replaceAll("×", "x").includes(word)
      );
    }
  }
  return { test: (entry) => tests.every((test) => test(entry)) };
}

/** What the choice `status` lets through, besides the statuses themselves. */
const KINDS: Readonly<Record<string, (entry: Entry) => boolean>> = {
  failed: isFailed,
  suspect: ({ suspect }) => suspect,
};

/** The entries that the filters of `state` let through. A wrong shape hides none. */
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
