/**
 * Tells the kernels of users from built-in ones, and finds suite files whose own kernels did not
 * run.
 *
 * @module
 */

import type { Row } from "../bench/row/row.ts";
import type { KernelNote, Suite } from "../bench/model/suite.ts";
import { PEERS_BACKEND } from "../bench/model/peer.ts";
import { isAuto } from "../bench/tune/auto_kernel.ts";
import type { CsvRow } from "../bench/row/csv_row.ts";
import { ops } from "../kernels/mod.ts";
import { builtInSuites, suiteNames } from "../suites/mod.ts";
import { isFile } from "./cases.ts";
import type { Target } from "./options.ts";
import type { Selected } from "./select.ts";

/**
 * Says which kernels a suite file adds to the built-in ones, if `rows` have none of them that
 * could run, and why; nothing if each file has one, or adds none.
 *
 * @param options Whose backend, where one is named, says that only its kernels are meant.
 */
export async function notRun(
  { suites, selection }: Pick<Selected, "suites" | "selection">,
  rows: readonly Row[],
  options: Pick<Target, "backend">,
): Promise<string | undefined> {
  if (options.backend !== undefined) return undefined;
  // They may run in another.
  if (selection.shard !== undefined) return undefined;
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
    kernels.filter((kernel) =>
      chosen(kernel) && !builtIn.has(idOf(kernel)) &&
      !isAuto(kernel.name)
    );
  const idle = files.map((suite) => ({ suite, added: addedBy(suite) }))
    .find(({ suite, added }) =>
      added.length > 0 &&
      !added.some(({ name }) => ran.has(JSON.stringify([suite.name, name])))
    );
  if (idle === undefined) return undefined;
  const { suite, added } = idle;
  const names = added.map(({ name, backend }) => `${name} (${backend})`)
    .join(", ");
  const refused = rows.find(({ key }) =>
    key.suite === suite.name && added.some(({ name }) => name === key.kernel)
  );
  const { backend: here, device } = selection;
  // Python kernels run on no emulated device, whatever the points are.
  const isHere = added.every(({ backend, runner }) =>
    backend === here && (runner === undefined || typeof device !== "string")
  );
  if (refused !== undefined && isHere) {
    return `Of the suite ${suite.name} no kernel of its own takes these points: ${names}, ${refused.note}; choose others with --m, --n, --k and --axis, or another device`;
  }
  const isEmulated = added.some(({ backend, runner }) =>
    backend !== "cpu" && runner === undefined
  );
  return `Of the suite ${suite.name} no kernel of its own was run: ${names}; run it where its device is${
    isEmulated ? ", check it without one with --device emulator:ARCH" : ""
  }, or name what to run with --backend or --kernel`;
}

const registered: ReadonlySet<string> = new Set(
  ops.flatMap(({ kernels, peers }) => [
    ...kernels.map(idOf),
    ...(peers?.peers ?? []).map(({ name }) =>
      idOf({ name, backend: PEERS_BACKEND })
    ),
  ]),
);

/** Returns whether a row is of a suite of the user's, and of a kernel that is not registered. */
export function isOwnKernel(
  { suite, kernel, backend }: Pick<CsvRow, "suite" | "kernel" | "backend">,
): boolean {
  return !suiteNames.includes(suite) && !isAuto(kernel) &&
    !registered.has(idOf({ name: kernel, backend }));
}

function idOf({ name, backend }: Pick<KernelNote, "name" | "backend">): string {
  return `${backend} ${name}`;
}
