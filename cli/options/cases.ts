/**
 * The options that say which cases run, and on which device.
 *
 * @module
 */

import { object } from "@optique/core/constructs";
import { map, multiple, withDefault } from "@optique/core/modifiers";
import { option } from "@optique/core/primitives";
import { EMULATED } from "../../backends/emulator/archs.ts";
import type { Overrides } from "../../bench/model/axes.ts";
import type { Words } from "../../session/options.ts";
import type { AxisValues } from "./lists.ts";
import { about, backend, lists, toggle } from "./basic.ts";
import { axisValues, device, sizes } from "./readers.ts";

/** Which cases. @param unnamed The suites where none is named. */
export function choiceFlags(
  words: Words,
  unnamed = "epilogue-bf16, matmul-bf16, matmul-fp16, matmul-fp32",
) {
  const flags = object("Cases", {
    suites: lists("--suite", {
      metavar: "NAME",
      words: words.suites,
      what:
        `Suites, files of your own such as ./my_suite.ts, or all (default: ${unnamed}).`,
    }),
    kernels: lists("--kernel", {
      metavar: "NAME",
      words: words.kernels,
      what: "Kernels (default: all of the suites).",
    }),
    axis: multiple(
      option(
        "--axis",
        axisValues(),
        about(
          "Values of an axis instead of the suite's: bits=3,4,8 or m=16:64:16 or layout=nn.",
        ),
      ),
    ),
    where: multiple(
      option(
        "--where",
        axisValues(),
        about("Only cases with these values of an axis, such as mode=affine."),
      ),
    ),
    ...short,
    quick: toggle("--quick", "Run a few shapes of each suite."),
  });
  return map(flags, ({ m, n, k, axis, where, ...rest }) => ({
    ...rest,
    overrides: byName([...axis, ...m, ...n, ...k]),
    where: Object.fromEntries(
      Object.entries(byName(where)).map(([name, values]) => [
        name,
        values.map(String),
      ]),
    ),
  }));
}

/** All values of each name, each once. */
function byName(lists: readonly AxisValues[]): Overrides {
  const groups = Map.groupBy(lists, ({ name }) => name);
  return Object.fromEntries(
    [...groups].map(([name, own]) => [
      name,
      [...new Set(own.flatMap(({ values }) => values))],
    ]),
  );
}

/** `--m`, `--n` and `--k`, each short for an `--axis`. */
const short = {
  m: sized("m", "Short for --axis m=..., such as --m 16,32 or --m 16:64:16."),
  n: sized("n", "Short for --axis n=...; N follows M where the suite says so."),
  k: sized("k", "Short for --axis k=..., such as --k 1024:32768:*2."),
};

function sized(name: "m" | "n" | "k", what: string) {
  return multiple(
    map(
      option(`--${name}`, sizes(), about(what)),
      (values): AxisValues => ({ name, values }),
    ),
  );
}

/** Which device. @param emulated Whether it may be an emulated one. */
export function targetFlags(words: Words, emulated = false) {
  const more = emulated ? `, or ${EMULATED.join(", ")}` : "";
  return object("Device", {
    backend: backend(words),
    device: withDefault(
      option(
        "--device",
        device(emulated),
        about(`Index of the device${more}.`),
      ),
      0,
    ),
  });
}
