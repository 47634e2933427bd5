import { deepStrictEqual } from "node:assert/strict";
import { allFormats } from "../../../bench/formats/quant_format.ts";
import type { Values } from "../../../bench/model/grid.ts";
import { dotsConfigs } from "./qmv.ts";
import { tileConfigs } from "./qmm.ts";
import { readPoint, TYPES } from "../point.ts";
import {
  type CudaPlace,
  qmvPlaces,
  qvmPlaces,
  tilePlaces,
} from "../testdata/cuda_points.ts";

/** Each axis of `configs` with its values. */
function axesOf(configs: Iterable<Values>): Record<string, Set<unknown>> {
  const axes: Record<string, Set<unknown>> = {};
  for (const config of configs) {
    for (const [axis, value] of Object.entries(config)) {
      (axes[axis] ??= new Set()).add(value);
    }
  }
  return axes;
}
const formatsOf = (places: readonly CudaPlace[]) =>
  new Set(places.map(({ point: { mode, bits } }) => `${mode} ${bits ?? ""}`));
const typedFormatsOf = (places: readonly CudaPlace[]) =>
  new Set(
    TYPES.flatMap((type) =>
      [...formatsOf(places.filter(({ point }) => point.type === type))]
        .map((format) => `${type} ${format}`)
    ),
  );
const all = new Set(
  allFormats().map(({ mode, bits }) =>
    `${mode} ${mode === "affine" ? bits : ""}`
  ),
);

Deno.test("tilePlaces have every width in both types, and every value of an axis", () => {
  deepStrictEqual(
    typedFormatsOf(tilePlaces),
    new Set(TYPES.flatMap((type) => [...all].map((x) => `${type} ${x}`))),
  );
  deepStrictEqual(
    axesOf(tilePlaces.map(({ config }) => config)),
    axesOf(tileConfigs([1, 2, 3, 4, 5, 8])),
  );
});

for (
  const [name, places, values] of [
    ["qmvPlaces", qmvPlaces, { m: 1, n: 1, k: 64 }],
    ["qvmPlaces", qvmPlaces, { m: 1, n: 64, k: 1, layout: "nn" }],
  ] as const
) {
  Deno.test(`${name} have every width, type and value of an axis`, () => {
    deepStrictEqual(formatsOf(places), all);
    deepStrictEqual(
      new Set(places.map(({ point }) => point.type)),
      new Set(TYPES),
    );
    deepStrictEqual(
      axesOf(places.map(({ config }) => config)),
      axesOf(dotsConfigs(readPoint(values))),
    );
  });
}
