/**
 * Options that several commands have: what they are called, read to and explained as.
 *
 * @module
 */

import type { Parser } from "@optique/core/parser";
import { type Message, text } from "@optique/core/message";
import { ensureNonEmptyString } from "@optique/core/nonempty";
import { map, multiple, optional } from "@optique/core/modifiers";
import { argument, option } from "@optique/core/primitives";
import { choice, string } from "@optique/core/valueparser";
import type { Words } from "../../session/options.ts";
import { name, names, path } from "./readers.ts";

/** What an option is for. */
export const about = (what: string): { description: Message } => ({
  description: [text(what)],
});

/** An option without a value. */
export const toggle = (name: `--${string}`, what: string) =>
  option(name, about(what));

function distinct(lists: readonly (readonly string[])[]): readonly string[] {
  return [...new Set(lists.flat())];
}

/** Names, in any number of lists. */
export const lists = (
  name: `--${string}`,
  { metavar, words, what }: {
    metavar: "NAME" | "ARCH";
    words: readonly string[];
    what: string;
  },
) => map(multiple(option(name, names(metavar, words), about(what))), distinct);

/** Files, folders and globs. */
export const paths = (metavar: "FILE" | "PATH", what: string) =>
  multiple(argument(string({ metavar }), about(what)));

/** Which device API. */
export const backend = (words: Words) =>
  optional(
    option(
      "--backend",
      name("NAME", words.backends),
      about(`Device API: one of ${words.backends.join(", ")}.`),
    ),
  );

/** Where compiled kernels are. */
export const kernelCache = () =>
  optional(
    option(
      "--kernel-cache",
      path("DIR"),
      about("Folder of compiled kernels (default: the program's .cache)."),
    ),
  );

/** One of `words`, which help shows. */
export const shown = <const T extends string>(words: readonly T[]) => {
  const metavar = words.join("|");
  ensureNonEmptyString(metavar);
  return choice(words, { metavar });
};

/** A parser of options of type `T`. */
export type Flags<T> = Parser<"sync", T, unknown>;
