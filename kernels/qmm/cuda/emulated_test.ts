import { deepStrictEqual, ok, strictEqual } from "node:assert/strict";
import { cudaTest } from "../../../backends/testdata/cuda_mocks.ts";
import { allFormats } from "../../../bench/formats/quant_format.ts";
import { formatValues, type Values } from "../../../bench/model/grid.ts";
import type { Op } from "../../../bench/model/op.ts";
import { emulate, Workshop } from "../../testdata/emulated.ts";
import { cudaKernels } from "./cuda.ts";
import { dotsConfigs } from "./dots.ts";
import { cudaReferee } from "./device_reference.ts";
import { tileConfigs } from "./tile_list.ts";
import { qmm } from "../op.ts";
import { type QmmPoint, readPoint, TYPES } from "../point.ts";
import {
  type CudaPlace,
  qmvPlaces,
  qvmPlaces,
  tilePlaces,
} from "../testdata/cuda_points.ts";

const kernel = (name: string) => cudaKernels.find((k) => k.name === name)!;

for (
  const { kernel: name, point: values, config } of [
    ...tilePlaces,
    ...qmvPlaces,
    ...qvmPlaces,
  ]
) {
  const { m, n, k, type, transposed, ...format } = values;
  const w = transposed === 0 ? "W" : "Wᵀ";
  cudaTest(
    `${name} is right on the emulator, ${type} x · ${w}, ${
      formatValues(format)
    } at ${m}x${n}x${k}, ${formatValues(config)}`,
    async (device) => {
      const point = readPoint(values);
      const candidate = [...kernel(name).candidates(point, device.info)]
        .find((c) => formatValues(c.config) === formatValues(config));
      ok(candidate, "no such config");
      strictEqual(candidate.illegal, undefined);
      using workshop = new Workshop(undefined, "cuda");
      strictEqual(
        await emulate(device, workshop, {
          op: qmm,
          kernel: kernel(name),
          point,
          config,
        }),
        "",
      );
    },
  );
}

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
    ["qvmPlaces", qvmPlaces, { m: 1, n: 64, k: 1, transposed: 0 }],
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

/** The operation as its referee has it: y in f64. */
const exact: Op<QmmPoint> = {
  ...qmm,
  operands: (point) =>
    qmm.operands(point).map((operand) =>
      operand.role === "out" ? { ...operand, type: "f64" } : operand
    ),
  tolerance: () => ({ rtol: 1e-12, atol: 1e-15 }),
};

for (const type of TYPES) {
  cudaTest(`referee is right on the emulator in ${type}`, async (device) => {
    using workshop = new Workshop(undefined, "cuda");
    const shapes = [
      { m: 5, n: 7, k: 96, bits: 3, group: 32 },
      { m: 2, n: 64, k: 37, transposed: 0, bits: 6 },
      { m: 1, n: 3, k: 48, mode: "nvfp4" },
      { m: 3, n: 96, k: 5, transposed: 0, mode: "mxfp8" },
    ];
    for (const shape of shapes) {
      const found = await emulate(device, workshop, {
        op: exact,
        kernel: cudaReferee(qmm),
        point: readPoint({ ...shape, type }),
        config: {},
        seeds: [1],
      });
      strictEqual(found, "", JSON.stringify(shape));
    }
  });
}
