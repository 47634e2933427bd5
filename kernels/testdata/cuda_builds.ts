/**
 * The translation units of CUDA kernels, for the tests that compile them.
 *
 * @module
 */

import type { Build } from "../../bench/device/device.ts";
import type { Kernel } from "../../bench/model/kernel_spec.ts";
import { h200 } from "./h200.ts";

/** The name of the source file. */
export function fileOf({ source }: Build): string {
  return source.pathname.split("/").at(-1)!;
}

/** File and defines, such as `reference.cu TYPE=bf16`. */
export function textOf(build: Build): string {
  return [
    fileOf(build),
    ...Object.entries(build.defines).map(([k, v]) => `${k}=${v}`),
  ].join(" ");
}

/** Every translation unit of every legal config of the CUDA kernels at `points`, once. */
export function distinctBuilds<P>(
  kernels: readonly Kernel<P>[],
  points: readonly P[],
): readonly Build[] {
  const found = new Map<string, Build>();
  for (const kernel of kernels.filter(({ backend }) => backend === "cuda")) {
    for (const point of points) {
      if (kernel.unsupported(point, h200) !== undefined) continue;
      for (const { config, illegal } of kernel.candidates(point, h200)) {
        if (illegal !== undefined) continue;
        for (const b of kernel.builds(point, config)) found.set(textOf(b), b);
      }
    }
  }
  return [...found.values()];
}

/** Of each source the build whose sizes are the least, which takes the least time. */
export function smallestOfEach(builds: readonly Build[]): readonly Build[] {
  const size = ({ defines }: Build) =>
    Object.values(defines).reduce<number>(
      (product, value) => product * Math.max(1, Number(value) || 1),
      1,
    );
  const best = new Map<string, Build>();
  for (const build of builds) {
    const known = best.get(build.source.href);
    if (!known || size(build) < size(known)) best.set(build.source.href, build);
  }
  return [...best.values()];
}
