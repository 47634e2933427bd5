/**
 * The GEMMs of a model's `config.json`, for `capture --model`.
 *
 * @module
 */

import { unknown } from "valibot";
import { readIfThere } from "../../../bench/files/disk.ts";
import { parseJson } from "../../../bench/files/json_file.ts";
import type { Captured } from "../../../bench/model/captured.ts";
import { UserError } from "../../../bench/model/errors.ts";
import { capturedModel } from "../../../session/capture/model.ts";
import { maybe, preset } from "../../options/flags.ts";
import { number, path } from "../../options/readers.ts";

/** Declares the options of a model that is not run. */
export function modelFlags() {
  return {
    model: maybe(
      "--model",
      path("FILE"),
      "List the GEMMs of a decode step from a model's config.json instead of running a program.",
    ),
    tp: preset(
      "--tp",
      number("COUNT", { least: 1 }),
      "With --model: GPUs that each layer is split over.",
      1,
    ),
    batch: preset(
      "--batch",
      number("COUNT", { least: 1 }),
      "With --model: sequences that a step decodes a token of.",
      16,
    ),
  };
}

/**
 * Returns the GEMMs of the model whose `config.json` is at `model`.
 *
 * @throws {UserError} Where the file cannot be read, or its model is not known.
 */
export function capturedOfModel(
  { model, tp, batch }: {
    readonly model: string;
    readonly tp: number;
    readonly batch: number;
  },
): Captured {
  const refuse = (why: string) =>
    new UserError(`Cannot read ${model}: ${why}; name a model's config.json`);
  const text = readIfThere(model);
  if (text === undefined) throw refuse("there is no such file");
  return capturedModel(parseJson(unknown(), text, refuse), { tp, batch });
}
