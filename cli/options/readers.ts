/**
 * Readers of option values: text in, a typed value or one clear line out.
 *
 * @module
 */

import { text } from "@optique/core/message";
import type { NonEmptyString } from "@optique/core/nonempty";
import type { ValueParser } from "@optique/core/valueparser";
import {
  EMULATED,
  emulatedApi,
  isEmulated,
} from "../../backends/emulator/archs.ts";
import {
  type DeviceId,
  type EmulatedName,
  isTimer,
  type Timer,
} from "../../bench/model/settings.ts";
import { UserError } from "../../bench/model/errors.ts";
import type { Scalar } from "../../bench/model/grid.ts";
import { asTyped, typed } from "../../session/home.ts";
import { type AxisValues, parseAxis, parseSizesAndSums } from "./lists.ts";

/** What a reader turns text into, and what it says of itself. */
export interface ReaderSpec<T> {
  readonly metavar: NonEmptyString;
  /** @throws {UserError} If the text is not such a value. */
  read(text: string): T;
  /** Any value of the type: the parser asks for one. */
  readonly placeholder: T;
  /** What shell completion offers. */
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

/** A number of at least `least`, whole where `whole` says so. */
export function number(
  metavar: NonEmptyString,
  { least = 0, whole = true }: { least?: number; whole?: boolean } = {},
): ValueParser<"sync", number> {
  return reader({
    metavar,
    placeholder: least,
    read(input) {
      const value = input.trim() === "" ? NaN : Number(input);
      const fits = whole ? Number.isSafeInteger(value) : isFinite(value);
      if (fits && value >= least) return value;
      throw new UserError(
        `${input || "nothing"} is not a ${
          whole ? "whole number" : "number"
        } of at least ${least}`,
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

/** Why the emulated device `name` is not timed, and what to do instead. */
export function timesNothing(name: EmulatedName): string {
  return `times on ${name} would mean nothing: check kernels on it with \`${
    typed(`check --device ${name}`)
  }\``;
}

/** A path, from where it is typed. */
export function path(metavar: NonEmptyString): ValueParser<"sync", string> {
  return reader({
    metavar,
    placeholder: ".",
    read(input) {
      if (input.trim() !== "") return asTyped(input);
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
    metavar: "do_bench|graph|batch:N",
    placeholder: "do_bench",
    words: ["do_bench", "graph", "batch:16"],
    read(input) {
      if (isTimer(input)) return input;
      throw new UserError(
        `${input} is not a timer: give do_bench, graph or batch:N, as in batch:16`,
      );
    },
  });
}
