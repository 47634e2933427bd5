/**
 * Suites of edge-case shapes for the lane emulator: points of the built-in suites are too large
 * for it.
 *
 * @module
 */

import { defineSuite, type Suite } from "../../bench/model/suite.ts";
import { ops } from "../mod.ts";
import { casesOf, type EmulatedBackend, isLibrary, valuesOf } from "./cases.ts";

/** The suite of the operation in `folder`, with its own kernels for `backend`. */
export async function edgeSuite(
  folder: string,
  backend: EmulatedBackend,
): Promise<Suite> {
  const { op, kernels } = ops.find((entry) => entry.folder === folder)!;
  const points = (await casesOf({ folder })).checked?.[backend] ??
    op.edgeCases;
  return defineSuite({
    name: `${folder}-${backend}-edge`,
    title: `${op.name} for ${backend} at edge-case shapes`,
    // `check` adds the operation's own to the suite's.
    op: { ...op, edgeCases: points.slice(0, 1) },
    axes: { edge: points.map((point) => valuesOf(op, point)) },
    kernels: kernels.filter((kernel) =>
      kernel.backend === backend && !isLibrary(kernel)
    ),
    baselines: [],
  });
}
