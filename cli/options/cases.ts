/**
 * The options that say which cases run, and on which device.
 *
 * @module
 */

import { object } from "@optique/core/constructs";
import { optional, withDefault } from "@optique/core/modifiers";
import { option } from "@optique/core/primitives";
import { EMULATED } from "../../backends/emulator/archs.ts";
import type { Words } from "../../session/options.ts";
import { about, backend, lists, toggle } from "./basic.ts";
import { device, sizes } from "./readers.ts";

const axis = (name: "--m" | "--n" | "--k", what: string) =>
  optional(option(name, sizes(), about(what)));

/** Which cases. @param unnamed The suites where none is named. */
export function choiceFlags(
  words: Words,
  unnamed = "epilogue-bf16, matmul-bf16, matmul-fp16, matmul-fp32",
) {
  return object("Cases", {
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
    m: axis(
      "--m",
      "Values of M instead of the suite's, such as 16,32 or 16:64:16.",
    ),
    n: axis(
      "--n",
      "Values of N. Without it N follows M where the suite says so.",
    ),
    k: axis("--k", "Values of K, such as 1024:32768:*2."),
    layout: lists("--layout", {
      metavar: "NAME",
      words: ["nn", "nt"],
      what: "Layout of B instead of the suite's: nn is [K, N], nt is [N, K].",
    }),
    quick: toggle("--quick", "Run a few shapes of each suite."),
  });
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
