import { deepStrictEqual, match, strictEqual } from "node:assert/strict";
import { problemOf } from "../bench/model/suite.ts";
import { qmm } from "../kernels/qmm/mod.ts";
import { peersOf, peerUnsupported, problemFields } from "./torch.ts";

const problem = (values: Record<string, number | string>) =>
  problemOf(qmm, qmm.point({ m: 2, n: 64, k: 256, ...values }));

/** Why each peer cannot be measured, by name; those that can are left out. */
function reasons(
  values: Record<string, number | string>,
): Record<string, string> {
  const found = peersOf("qmm").map((peer) =>
    [
      peer.name,
      peerUnsupported(peer, { problem: problem(values), sizes: [2] }),
    ] as const
  );
  return Object.fromEntries(
    found.flatMap(([name, why]) => why === undefined ? [] : [[name, why]]),
  );
}

Deno.test("qmmPeers.unsupported() lets all at 4-bit integers in bf16", () => {
  for (const group of [32, 64, 128]) deepStrictEqual(reasons({ group }), {});
});

Deno.test("qmmPeers.unsupported() says what tinygemm does not take", () => {
  for (
    const [values, why] of [
      [{ mode: "nvfp4" }, /not nvfp4 of 4 bits/],
      [{ mode: "mxfp8" }, /not mxfp8 of 8 bits/],
      [{ bits: 8 }, /not affine of 8 bits/],
      [{ layout: "nn" }, /x · Wᵀ only/],
      [{ type: "f16" }, /bf16 activations on CUDA, not f16/],
      [{ n: 60 }, /multiples of 8, not 60/],
    ] as const
  ) {
    const found = reasons(values);
    deepStrictEqual(Object.keys(found), ["torch-int4pack"]);
    match(found["torch-int4pack"]!, why);
  }
});

Deno.test("qmmPeers.unsupported() compiles no codes that lie across bytes", () => {
  for (const bits of [3, 5, 6]) {
    const found = reasons({ bits });
    deepStrictEqual(Object.keys(found), ["torch-compiled", "torch-int4pack"]);
    match(found["torch-compiled"]!, new RegExp(`Codes of ${bits} bits`));
  }
  strictEqual(reasons({ bits: 2 })["torch-compiled"], undefined);
});

Deno.test("qmmPeers.fields() has the format of every mode", () => {
  const shape = { op: "qmm", m: 2, n: 64, k: 256 };
  deepStrictEqual(problemFields(problem({ group: 128, type: "bf16" })), {
    ...{ ...shape, type: "bf16", transposed: true },
    ...{ mode: "affine", bits: 4, group: 128 },
  });
  deepStrictEqual(
    problemFields(problem({ mode: "nvfp4", type: "f16", layout: "nn" })),
    {
      ...{ ...shape, type: "f16", transposed: false },
      ...{ mode: "nvfp4", bits: 4, group: 16 },
    },
  );
});
