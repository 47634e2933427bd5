/**
 * Finds suite files of users whose own kernels did not run.
 *
 * @module
 */

import type { Row } from "../bench/row/row.ts";
import type { KernelNote, Suite } from "../bench/model/suite.ts";
import { builtInSuites } from "../suites/mod.ts";
import { isFile } from "./cases.ts";
import type { Target } from "./options.ts";
import type { Selected } from "./select.ts";

/**
 * Says which kernels a suite file adds to the built-in ones, if `rows` have none of them that
 * could run; nothing if each file has one, or adds none.
 *
 * @param options Whose backend, where one is named, says that only its kernels are meant.
 */
export async function notRun(
  { suites, selection }: Pick<Selected, "suites" | "selection">,
  rows: readonly Row[],
  options: Pick<Target, "backend">,
): Promise<string | undefined> {
  if (options.backend !== undefined) return undefined;
  const files = suites.filter((_, i) => isFile(selection.suites[i] ?? ""));
  if (files.length === 0) return undefined;
  const builtIn = new Set(
    (await builtInSuites()).flatMap(({ kernels }) => kernels.map(idOf)),
  );
  const chosen = ({ name }: KernelNote) =>
    selection.kernels.length === 0 || selection.kernels.includes(name);
  const ran = new Set(
    rows.filter(({ status }) => status !== "unsupported")
      .map(({ key: { suite, kernel } }) => JSON.stringify([suite, kernel])),
  );
  const addedBy = ({ kernels }: Suite) =>
    kernels.filter((kernel) => chosen(kernel) && !builtIn.has(idOf(kernel)));
  const idle = files.map((suite) => ({ suite, added: addedBy(suite) }))
    .find(({ suite, added }) =>
      added.length > 0 &&
      !added.some(({ name }) => ran.has(JSON.stringify([suite.name, name])))
    );
  if (idle === undefined) return undefined;
  const names = idle.added.map(({ name, backend }) => `${name} (${backend})`);
  return `No kernel that ${idle.suite.name} adds to the built-in ones was run: ${
    names.join(", ")
  }; run it where its device is, or name what to run with --backend or --kernel`;
}

function idOf({ name, backend }: KernelNote): string {
  return `${backend} ${name}`;
}
