import { ok, strictEqual } from "node:assert/strict";
import { cudaTest } from "../../backends/testdata/cuda_mocks.ts";
import { decode, encode } from "../../bench/model/dtype.ts";
import type { Op } from "../../bench/model/op.ts";
import { emulate } from "../testdata/emulated.ts";
import { cudaKernels } from "./cuda/cuda.ts";
import { qmm } from "./op.ts";
import { type QmmPoint, readPoint } from "./point.ts";

/** 2^120: a factor of 2^14 more, and it is beyond fp32. */
const SCALE = 127 + 120;

/** The operation with scales at the end of E8M0's range, and x as small as they are large. */
const vast: Op<QmmPoint> = {
  ...qmm,
  inputs(point, options) {
    const [x, w, scales] = qmm.inputs(point, options);
    const small = decode(x!, point.type).map((v) => v * 2 ** -120);
    return [encode(small, point.type), w!, scales!.map(() => SCALE)];
  },
};

for (
  const [name, layout] of [["qmv", "nt"], ["qmv", "nn"], ["qmm", "nt"]] as const
) {
  cudaTest(
    `${name} is right where scales are vast, ${layout}`,
    async (device) => {
      const point = readPoint({
        ...{ m: 3, n: 64, k: 96, type: "bf16", mode: "mxfp4", layout },
      });
      const kernel = cudaKernels.find((k) => k.name === name)!;
      const candidate = [...kernel.candidates(point, device.info)]
        .find(({ illegal }) => illegal === undefined);
      ok(candidate, "no legal config");
      const { config } = candidate;
      strictEqual(
        await emulate(device, { op: vast, kernel, point, config }),
        "",
      );
    },
  );
}
