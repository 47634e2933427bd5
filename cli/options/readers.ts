/**
 * Readers of option values: text in, a typed value or one clear line out.
 *
 * @module
 */

import { text } from "@optique/core/message";
import type { NonEmptyString } from "@optique/core/nonempty";
import type { ValueParser } from "@optique/core/valueparser";
import { UserError } from "../../bench/model/errors.ts";
import type { Scalar } from "../../bench/model/grid.ts";
import {
  type DeviceId,
  type DeviceSet,
  type EmulatedName,
  isTimer,
  type Shard,
  type Timer,
} from "../../bench/model/settings.ts";
import { typed } from "../../session/home.ts";
import {
  EMULATED,
  emulatedApi,
  isEmulated,
} from "../../backends/emulator/names.ts";

/** Reads the value of an option. */
export interface ReaderSpec<T> {
  readonly metavar: NonEmptyString;
  /** @throws {UserError} If the text is not such a value. */
  read(text: string): T;
  /** Any value of the type: the parser asks for one. */
  readonly placeholder: T;
  /** Words that shell completion offers. */
  readonly words?: readonly string[];
}

/** A value parser from `spec`. */
export function reader<T>(spec: ReaderSpec<T>): ValueParser<"sync", T> {
  return {
    mode: "sync",
    metavar: spec.metavar,
    placeholder: spec.placeholder,
    parse(input) {
      try {
        return { success: true, value: spec.read(input) };
      } catch (error) {
        if (!(error instanceof UserError)) throw error;
        return { success: false, error: [text(error.message)] };
      }
    },
    format: (value) => `${value}`,
    *suggest(prefix) {
      for (const word of spec.words ?? []) {
        if (word.startsWith(prefix)) yield { kind: "literal", text: word };
      }
    },
  };
}

/** A number from `least` to `most`, whole where `whole` says so. */
export function number(
  metavar: NonEmptyString,
  { least = 0, most = Infinity, whole = true }: {
    least?: number;
    most?: number;
    whole?: boolean;
  } = {},
): ValueParser<"sync", number> {
  return reader({
    metavar,
    placeholder: least,
    read(input) {
      const value = input.trim() === "" ? NaN : Number(input);
      const fits = whole ? Number.isSafeInteger(value) : isFinite(value);
      if (fits && value >= least && value <= most) return value;
      throw new UserError(
        `${input || "nothing"} is not a ${whole ? "whole number" : "number"} ${
          most < Infinity ? `from ${least} to ${most}` : `of at least ${least}`
        }`,
      );
    },
  });
}

/**
 * A device by its number; an emulated one where there is something to do but to time, as
 * `emulated` says.
 */
export function device(emulated: boolean): ValueParser<"sync", DeviceId> {
  const index = number("DEVICE");
  return reader<DeviceId>({
    metavar: "DEVICE",
    placeholder: 0,
    words: emulated ? EMULATED : [],
    read(input) {
      if (isEmulated(input)) {
        emulatedApi(input);
        if (emulated) return input;
        throw new UserError(timesNothing(input));
      }
      const parsed = index.parse(input);
      if (parsed.success) return parsed.value;
      throw new UserError(
        `${input || "nothing"} is not a device: give its number, from 0${
          emulated ? `, or one of ${EMULATED.join(", ")}` : ""
        }`,
      );
    },
  });
}

/** A device as {@linkcode device} reads it, or several: `all`, or numbers and ranges. */
export function devices(): ValueParser<"sync", DeviceId | Several> {
  const one = device(true);
  return reader<DeviceId | Several>({
    metavar: "DEVICES",
    placeholder: 0,
    words: ["all", ...EMULATED],
    read(input) {
      if (input === "all") return { device: 0, devices: "all" };
      const indices = indicesOf(input);
      if (indices !== undefined && indices.length > 1) {
        return { device: indices[0]!, devices: indices };
      }
      const parsed = one.parse(indices === undefined ? input : `${indices[0]}`);
      if (parsed.success) return parsed.value;
      throw new UserError(
        `${
          input || "nothing"
        } is not a device: give its number, from 0, several as in 0,2-3, all, or one of ${
          EMULATED.join(", ")
        }`,
      );
    },
  });
}

/** Several devices, and the first of them. */
interface Several {
  readonly device: number;
  readonly devices: DeviceSet;
}

/** The numbers in `text`, each once and in order; nothing where it is something else. */
function indicesOf(text: string): readonly number[] | undefined {
  const found = new Set<number>();
  for (const part of text.split(",")) {
    const [, first, last = first] = /^\s*(\d{1,3})(?:-(\d{1,3}))?\s*$/
      .exec(part) ?? [];
    if (first === undefined || Number(last) < Number(first)) return undefined;
    for (let i = Number(first); i <= Number(last); i++) found.add(i);
  }
  return [...found].toSorted((a, b) => a - b);
}

/** Says why the emulated device `name` is not timed, and the command to use instead. */
export function timesNothing(name: EmulatedName): string {
  return `times on ${name} would mean nothing: check kernels on it with \`${
    typed(`check --device ${name}`)
  }\``;
}

/** A part of the cases, such as `3/16`. */
export function shard(): ValueParser<"sync", Shard> {
  return reader<Shard>({
    metavar: "I/N",
    placeholder: { index: 1, count: 1 },
    read(input) {
      const [, index, count] = /^(\d{1,5})\/(\d{1,5})$/.exec(input)
        ?.map(Number) ?? [];
      const fits = index !== undefined && count !== undefined && index >= 1 &&
        index <= count && count <= MOST;
      if (fits) return { index, count };
      throw new UserError(
        `${
          input || "nothing"
        } is not a shard: give its number, from 1, and how many there are, at most ${MOST}, as in 3/16`,
      );
    },
  });
}

/** A path, from where it is typed. */
export function path(metavar: NonEmptyString): ValueParser<"sync", string> {
  return reader({
    metavar,
    placeholder: ".",
    read(input) {
      if (input.trim() !== "") return input;
      throw new UserError(
        "the path is empty: name one, or leave the option out",
      );
    },
  });
}

/** A program: a bare name is one of PATH, all else a path from where it is typed. */
export function program(metavar: NonEmptyString): ValueParser<"sync", string> {
  const paths = path(metavar);
  return {
    ...paths,
    parse: (input) =>
      /[/\\]/.test(input) || input.trim() === ""
        ? paths.parse(input)
        : { success: true, value: input },
  };
}

/** A name. */
export function name(
  metavar: NonEmptyString,
  words: readonly string[],
): ValueParser<"sync", string> {
  return reader({ metavar, words, placeholder: "", read: nameOf });
}

/** A list of names, `a,b`. */
export function names(
  metavar: NonEmptyString,
  words: readonly string[],
): ValueParser<"sync", readonly string[]> {
  return reader({
    metavar,
    words,
    placeholder: [],
    read: (input) => input.split(",").map(nameOf),
  });
}

/** @throws {UserError} If it is empty: no name is not the same as every name. */
function nameOf(text: string): string {
  const name = text.trim();
  if (name !== "") return name;
  throw new UserError("a name is empty: give names, or leave the option out");
}

/** A list of sizes, as {@linkcode parseSizesAndSums} reads it. */
export function sizes(): ValueParser<"sync", readonly Scalar[]> {
  return reader({
    metavar: "SIZES",
    placeholder: [1],
    read: parseSizesAndSums,
  });
}

/** An axis and its values, as {@linkcode parseAxis} reads them. */
export function axisValues(): ValueParser<"sync", AxisValues> {
  return reader<AxisValues>({
    metavar: "NAME=VALUES",
    placeholder: { name: "m", values: [1] },
    words: ["m=", "n=", "k="],
    read: parseAxis,
  });
}

/** A timer of {@linkcode Timer}. */
export function timer(): ValueParser<"sync", Timer> {
  return reader<Timer>({
    metavar: "do_bench|graph|batch:N|chain:N[:pdl]",
    placeholder: "do_bench",
    words: ["do_bench", "graph", "batch:16", "chain:32", "chain:32:pdl"],
    read(input) {
      if (isTimer(input)) return input;
      throw new UserError(
        `${input} is not a timer: give do_bench, graph, batch:N, chain:N or chain:N:pdl, as in chain:32 (at most 9999 calls)`,
      );
    },
  });
}

/** More would be a slip of the finger: no sweep over them would ever end. */
const MOST = 10_000;

/**
 * The sizes that `text` names, each once, in the order in which they stand.
 *
 * An item is a whole number of at least 1, or a range `first:last`, `first..last` or
 * `first:last:step`, whose last is included; a step `*f` multiplies.
 *
 * @throws {UserError} If an item is none of these, naming it.
 * @example
 * ```ts
 * import { parseSizes } from "./readers.ts";
 * import { deepStrictEqual } from "node:assert/strict";
 *
 * deepStrictEqual(parseSizes("8,16:64:16"), [8, 16, 32, 48, 64]);
 * deepStrictEqual(parseSizes("1:20:*2"), [1, 2, 4, 8, 16]);
 * ```
 */
export function parseSizes(text: string): readonly number[] {
  const sizes = new Set<number>();
  for (const item of text.split(",")) {
    for (const size of rangeOf(item.trim())) {
      sizes.add(size);
      if (sizes.size > MOST) {
        throw new UserError(`${item} names more than ${MOST} sizes`);
      }
    }
  }
  return [...sizes];
}

/**
 * Reads sizes as {@linkcode parseSizes} does. Numbers joined by `+` are one item and stay text:
 * operations on lists of problems read them.
 *
 * @throws {UserError} If an item is neither.
 */
function parseSizesAndSums(text: string): readonly Scalar[] {
  const items = text.split(",").map((item) => item.trim());
  const sums = (item: string) => /^\d+(\+\d+)+$/.test(item);
  if (!items.some(sums)) return parseSizes(text);
  return items.flatMap((item): readonly Scalar[] =>
    sums(item) ? [item] : parseSizes(item)
  );
}

/** Values of the axis of that name. */
export interface AxisValues {
  readonly name: string;
  readonly values: readonly Scalar[];
}

/**
 * An axis with its values, `name=list`: an item is a size or range as in
 * {@linkcode parseSizes}, a sum, or a word.
 *
 * @throws {UserError} If `text` has no name or an empty item.
 * @example
 * ```ts
 * import { parseAxis } from "./readers.ts";
 * import { deepStrictEqual } from "node:assert/strict";
 *
 * deepStrictEqual(parseAxis("bits=3,4"), { name: "bits", values: [3, 4] });
 * deepStrictEqual(parseAxis("mode=affine"), { name: "mode", values: ["affine"] });
 * ```
 */
export function parseAxis(text: string): AxisValues {
  const at = text.indexOf("=");
  const name = text.slice(0, Math.max(at, 0)).trim();
  if (name === "") {
    throw new UserError(
      `${text || "nothing"} names no axis: write NAME=VALUES, as in bits=3,4,8`,
    );
  }
  const values = text.slice(at + 1).split(",").flatMap((part) => {
    const item = part.trim();
    if (item === "") {
      throw new UserError(
        `A value of ${name} is empty: write NAME=VALUES, as in bits=3,4,8`,
      );
    }
    if (item === "0" || /^\d+\.\d+$/.test(item)) return [Number(item)];
    return /^\d/.test(item) ? parseSizesAndSums(item) : [item];
  });
  return { name, values: [...new Set(values)] };
}

function* rangeOf(item: string): Generator<number> {
  const [first, last, step, ...rest] = item.split(/:|\.\./);
  if (rest.length > 0) {
    throw new UserError(
      `${item} has too many colons: write a range as first:last:step`,
    );
  }
  const from = sizeOf(first!, item);
  if (last === undefined) return yield from;
  const to = sizeOf(last, item);
  if (to < from) {
    throw new UserError(
      `${item} is an empty range: its last is less than its first`,
    );
  }
  const factor = step?.startsWith("*");
  const by = step === undefined ? 1 : sizeOf(step.replace(/^\*/, ""), item);
  if (factor && by < 2) {
    throw new UserError(`${item} never ends: multiply by 2 or more`);
  }
  for (let at = from; at <= to; at = factor ? at * by : at + by) yield at;
}

function sizeOf(text: string, item: string): number {
  const size = Number(text);
  if (/^\d+$/.test(text) && Number.isSafeInteger(size) && size >= 1) {
    return size;
  }
  throw new UserError(
    `${
      item === "" ? "An empty item" : item
    } is not a size: give whole numbers of at least 1, as in 16,32 or 16:64:16 or 1:512:*2`,
  );
}
