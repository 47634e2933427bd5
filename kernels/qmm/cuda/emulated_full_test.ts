import { ok, strictEqual } from "node:assert/strict";
import { cudaTest } from "../../../backends/testdata/cuda_mocks.ts";
import { formatValues } from "../../../bench/model/grid.ts";
import type { Op } from "../../../bench/model/op.ts";
import { emulate } from "../../testdata/emulated.ts";
import { cudaKernels } from "./cuda.ts";
import { cudaReference } from "./device_reference.ts";
import { qmm } from "../op.ts";
import { type QmmPoint, readPoint, TYPES } from "../point.ts";
import { qmvPlaces, qvmPlaces, tilePlaces } from "../testdata/cuda_points.ts";

const kernel = (name: string) => cudaKernels.find((k) => k.name === name)!;

for (
  const { kernel: name, point: values, config } of [
    ...tilePlaces,
    ...qmvPlaces,
    ...qvmPlaces,
  ]
) {
  const { m, n, k, type, layout, ...format } = values;
  const w = layout === "nn" ? "W" : "Wᵀ";
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
      strictEqual(
        await emulate(device, {
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

/** The operation as its reference has it: y in f64. */
const exact: Op<QmmPoint> = {
  ...qmm,
  operands: (point) =>
    qmm.operands(point).map((operand) =>
      operand.role === "out" ? { ...operand, type: "f64" } : operand
    ),
  tolerance: () => ({ rtol: 1e-12, atol: 1e-15 }),
};

for (const type of TYPES) {
  cudaTest(`reference is right on the emulator in ${type}`, async (device) => {
    const shapes = [
      { m: 5, n: 7, k: 96, bits: 3, group: 32 },
      { m: 2, n: 64, k: 37, layout: "nn", bits: 6 },
      { m: 1, n: 3, k: 48, mode: "nvfp4" },
      { m: 3, n: 96, k: 5, layout: "nn", mode: "mxfp8" },
    ];
    for (const shape of shapes) {
      const found = await emulate(device, {
        op: exact,
        kernel: cudaReference(qmm),
        point: readPoint({ ...shape, type }),
        config: {},
        seeds: [1],
      });
      strictEqual(found, "", JSON.stringify(shape));
    }
  });
}
