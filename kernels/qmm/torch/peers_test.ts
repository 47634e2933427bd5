import { assertEquals, assertMatch } from "@std/assert";
import { problemOf } from "../../../bench/model/suite.ts";
import { qmm } from "../mod.ts";
import { peers } from "./peers.ts";

const problem = (values: Record<string, number | string>) =>
  problemOf(qmm, qmm.point({ m: 2, n: 64, k: 256, ...values }));

/** The reasons why peers cannot be measured, by name. */
function reasons(
  values: Record<string, number | string>,
): Record<string, string> {
  const found = peers.peers.map((peer) =>
    [peer.name, peers.unsupported!(peer, problem(values))] as const
  );
  return Object.fromEntries(
    found.flatMap(([name, why]) => why === undefined ? [] : [[name, why]]),
  );
}

Deno.test("peers.unsupported() of qmm lets all at 4-bit integers in bf16", () => {
  for (const group of [32, 64, 128]) assertEquals(reasons({ group }), {});
});

Deno.test("peers.unsupported() of qmm says what tinygemm does not take", () => {
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
    assertEquals(Object.keys(found), ["torch-int4pack"]);
    assertMatch(found["torch-int4pack"]!, why);
  }
});

Deno.test("peers.unsupported() of qmm compiles no codes that lie across bytes", () => {
  for (const bits of [3, 5, 6]) {
    const found = reasons({ bits });
    assertEquals(Object.keys(found), ["torch-compiled", "torch-int4pack"]);
    assertMatch(found["torch-compiled"]!, new RegExp(`Codes of ${bits} bits`));
  }
  assertEquals(reasons({ bits: 2 })["torch-compiled"], undefined);
});

Deno.test("peers.fields() of qmm has the format of every mode", () => {
  const shape = { m: 2, n: 64, k: 256 };
  assertEquals(peers.fields(problem({ group: 128, type: "bf16" })), {
    ...{ ...shape, type: "bf16", transposed: true, rows: 64, cols: 256 },
    ...{ mode: "affine", bits: 4, group: 128 },
  });
  assertEquals(
    peers.fields(problem({ mode: "nvfp4", type: "f16", layout: "nn" })),
    {
      ...{ ...shape, type: "f16", transposed: false, rows: 256, cols: 64 },
      ...{ mode: "nvfp4", bits: 4, group: 16 },
    },
  );
});
