/**
 * What no dispatch table can be made of, said before anything is measured.
 *
 * @module
 */

import { assertWritable } from "../../../bench/files/disk.ts";
import { UserError } from "../../../bench/model/errors.ts";
import { parseValues } from "../../../bench/model/grid.ts";
import type { Case } from "../../../bench/model/suite.ts";
import { fromHere } from "../../../session/home.ts";
import type { TuneOptions } from "../../../session/tune_options.ts";

/**
 * Refuses options that contradict `--dispatch` along `axis`, and files that cannot be written.
 *
 * @throws {UserError} For the first of them.
 */
export function refuseOptions(
  options: Pick<TuneOptions, "m" | "n" | "k" | "out" | "header">,
  axis: string,
): void {
  const { out, header } = options;
  if (options[axis as "m" | "n" | "k"] !== undefined) {
    throw new UserError(
      `Cannot take sizes along ${axis} from both --${axis} and --dispatch: leave out --${axis}`,
    );
  }
  const files = [out, header].filter((path) => path !== undefined)
    .map(fromHere);
  if (new Set(files).size < files.length) {
    throw new UserError(
      `Cannot write a table and a header to one file, ${out}: name another with --out or --header`,
    );
  }
  for (const file of files) assertWritable(file);
}

/**
 * Refuses cases whose problem is another one at each size along `axis`, as where M is the sum
 * of a list that is a parameter: no table would have more than one size.
 *
 * @throws {UserError} For the first of them.
 */
export function refuseCases(cases: readonly Case[], axis: string): void {
  const one = cases.find(({ problem: { key } }) =>
    Object.hasOwn(parseValues(key.params), axis)
  );
  if (!one) return;
  throw new UserError(
    `Cannot make ranges along ${axis} for suite ${one.suite}: its problems name their own ${axis}, as in "${one.problem.key.params}", so that each is another problem; give another axis or suite`,
  );
}
