/**
 * The quantised formats: MLX's modes, with the widths and groups that each has.
 *
 * Source: MLX, `mlx/ops.cpp` and `python/tests/test_quantized.py`; OCP Microscaling
 * Formats (MX) 1.0 for the MX modes.
 *
 * @module
 */

import { UserError } from "../model/errors.ts";

/** The modes. */
export const MODES = ["affine", "mxfp4", "mxfp8", "nvfp4"] as const;

/** The group of a format whose scales are one for each row of stored weights. */
export const CHANNEL = "channel";

/** A storage format of weights: consecutive `group`s of a row share a scale. */
export interface QuantFormat {
  readonly mode: typeof MODES[number];
  /** Of a code. */
  readonly bits: number;
  /** Elements that share a scale. */
  readonly group: number;
}

/** The widths and groups of each mode, its default first. */
const ALLOWED: Readonly<
  Record<
    QuantFormat["mode"],
    { readonly bits: readonly number[]; readonly group: readonly number[] }
  >
> = {
  affine: { bits: [4, 2, 3, 5, 6, 8], group: [64, 32, 128] },
  mxfp4: { bits: [4], group: [32] },
  mxfp8: { bits: [8], group: [32] },
  nvfp4: { bits: [4], group: [16] },
};

/** The input of {@linkcode quantFormat}; missing fields take the mode's default. */
export interface FormatInput {
  readonly mode: string | number;
  readonly bits?: string | number | undefined;
  readonly group?: string | number | undefined;
}

/** The length of a row that is one group: a multiple of it, so that all codes fill whole words. */
const WORD_CODES = 32;

/**
 * The format that was wished for; in mode `affine` {@linkcode CHANNEL} is the group of `row`
 * weights, all of a row.
 *
 * @throws {UserError} For one that MLX refuses too, and for a row that fills no whole words.
 */
export function quantFormat(
  { mode: name, bits, group }: FormatInput,
  row?: number,
): QuantFormat {
  const mode = MODES.find((m) => m === name);
  if (mode === undefined) {
    throw new UserError(`mode is ${name}: give one of ${MODES.join(", ")}`);
  }
  const one = (what: "bits" | "group", value: string | number | undefined) => {
    const allowed = ALLOWED[mode][what];
    const found = value === undefined
      ? allowed[0]
      : allowed.find((x) => x === Number(value));
    if (found !== undefined) return found;
    const sorted = allowed.toSorted((a, b) => a - b).map(String);
    if (what === "group" && mode === "affine") sorted.push(CHANNEL);
    throw new UserError(
      `${what} is ${value}: ${mode} has ${sorted.join(", ")}`,
    );
  };
  if (group !== CHANNEL || mode !== "affine" || row === undefined) {
    return { mode, bits: one("bits", bits), group: one("group", group) };
  }
  if (row % WORD_CODES === 0) {
    return { mode, bits: one("bits", bits), group: row };
  }
  throw new UserError(
    `A row of ${row} weights is no multiple of ${WORD_CODES}, so its codes fill no whole words: make K of x · Wᵀ, or N of x · W, a multiple of it`,
  );
}

/** Whether a format has one scale for each row, of a length that is no group of MLX. */
export function isChannel({ mode, group }: QuantFormat): boolean {
  return !ALLOWED[mode].group.includes(group);
}

/** Every format there is, modes in order, bits and groups ascending. */
export function allFormats(): QuantFormat[] {
  return MODES.flatMap((mode) =>
    ALLOWED[mode].bits.toSorted((a, b) => a - b).flatMap((bits) =>
      ALLOWED[mode].group.toSorted((a, b) => a - b).map((group) => ({
        mode,
        bits,
        group,
      }))
    )
  );
}

/** The group as the axis of that name has it: `64`, `channel`. */
export function groupName(format: QuantFormat): number | string {
  return isChannel(format) ? CHANNEL : format.group;
}

/** A format for people: `affine-4/64`, `mxfp4`. */
export function formatName({ mode, bits, group }: QuantFormat): string {
  return mode === "affine"
    ? `affine-${bits}/${groupName({ mode, bits, group })}`
    : mode;
}

/** Checks that rows are whole groups. @throws {UserError} If `length` is no multiple of one. */
export function demandGroups(
  { mode, group }: QuantFormat,
  length: number,
): void {
  if (length % group === 0) return;
  throw new UserError(
    `A row of ${length} weights is no multiple of ${group}, the group of ${mode}: make K of x · Wᵀ, or N of x · W, a multiple of it, or take a smaller group`,
  );
}
