/**
 * Readers of shares and speed-ups.
 *
 * @module
 */

import { UserError } from "../../bench/model/errors.ts";
import { reader } from "./readers.ts";

/** A share, from 0 to 1. */
export function share() {
  return reader({
    metavar: "SHARE",
    placeholder: 0.85,
    read(input) {
      const value = input.trim() === "" ? NaN : Number(input);
      if (value >= 0 && value <= 1) return value;
      throw new UserError(
        `${input || "nothing"} is no share: give 0 to 1, as in 0.85`,
      );
    },
  });
}

/** Speed-ups, as in 1.05,1.3. */
export function speedups() {
  return reader({
    metavar: "FACTORS",
    placeholder: [1] as readonly number[],
    read: (input) =>
      input.split(",").map((part) => {
        const value = part.trim() === "" ? NaN : Number(part);
        if (value > 0 && Number.isFinite(value)) return value;
        throw new UserError(
          `${
            part || "nothing"
          } is no speed-up: give factors above 0, as in 1.05,1.3`,
        );
      }),
  });
}
