import { assertEquals, assertMatch } from "@std/assert";
import { problemOf } from "../bench/model/suite.ts";
import { groupedMatmul } from "./grouped/mod.ts";
import { peers as groupedPeers } from "./grouped/torch/peers.ts";
import { matmul } from "./matmul/mod.ts";
import { peers as matmulPeers } from "./matmul/torch/peers.ts";
import { qmm } from "./qmm/mod.ts";
import { peers as qmmPeers } from "./qmm/torch/peers.ts";
import { swiglu } from "./swiglu/mod.ts";
import { peers as swigluPeers } from "./swiglu/torch/peers.ts";

const matmulProblem = (values: Record<string, number | string>) =>
  problemOf(matmul, matmul.point({ m: 16, n: 16, k: 256, ...values }));

Deno.test("peers.unsupported() of matmul refuses types and epilogues that a peer has not", () => {
  const reasons = (one: ReturnType<typeof matmulProblem>) =>
    matmulPeers.peers.map((peer) => matmulPeers.unsupported!(peer, one))
      .filter((reason) => reason !== undefined);
  assertEquals(reasons(matmulProblem({ epilogue: "bias+relu" })), []);
  const [why, ...more] = reasons(matmulProblem({ epilogue: "none" }));
  assertMatch(why!, /no epilogue to fuse/);
  assertEquals(more, []);
  const own = matmulProblem({});
  const mixed = { ...own, key: { ...own.key, b_type: "f32" as const } };
  assertMatch(reasons(mixed)[0]!, /one type of bf16, f16, f32/);
});

Deno.test("peers.fields() of matmul has distances between rows where none are given", () => {
  assertEquals(
    matmulPeers.fields(matmulProblem({ type: "bf16", epilogue: "relu" })),
    {
      m: 16,
      n: 16,
      k: 256,
      type: "bf16",
      layout: "nn",
      lda: 256,
      ldb: 16,
      epilogue: "relu",
      bias: false,
      relu: true,
    },
  );
});

const qmmProblem = (values: Record<string, number | string>) =>
  problemOf(qmm, qmm.point({ m: 2, n: 64, k: 256, ...values }));

/** The reasons why peers cannot be measured, by name. */
function reasons(
  values: Record<string, number | string>,
): Record<string, string> {
  const found = qmmPeers.peers.map((peer) =>
    [peer.name, qmmPeers.unsupported!(peer, qmmProblem(values))] as const
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
      [{ group: "channel" }, /groups of 32 to 256/],
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
  assertEquals(qmmPeers.fields(qmmProblem({ group: 128, type: "bf16" })), {
    ...shape,
    type: "bf16",
    transposed: true,
    rows: 64,
    cols: 256,
    mode: "affine",
    bits: 4,
    group: 128,
  });
  assertEquals(
    qmmPeers.fields(qmmProblem({ mode: "nvfp4", type: "f16", layout: "nn" })),
    {
      ...shape,
      type: "f16",
      transposed: false,
      rows: 256,
      cols: 64,
      mode: "nvfp4",
      bits: 4,
      group: 16,
    },
  );
});

const groupedProblem = (values: Record<string, number | string>) =>
  problemOf(groupedMatmul, groupedMatmul.point(values));

Deno.test("peers.fields() of grouped-matmul has the sizes of each product that has rows", () => {
  const list = groupedProblem({ m: "80+0+7", n: "64+32+48", k: "128+256+512" });
  assertEquals(groupedPeers.fields(list), {
    groups: [[80, 64, 128], [7, 48, 512]],
    m_major: false,
  });
});

Deno.test("peers.unsupported() of grouped-matmul says what one call does not take", () => {
  const reasons = (values: Record<string, number | string>) =>
    groupedPeers.peers.map((peer) =>
      groupedPeers.unsupported!(peer, groupedProblem(values))
    );
  assertEquals(reasons({ m: "80+176", n: 64, k: 128 }), [
    undefined,
    undefined,
  ]);
  // What has no rows has no part.
  assertEquals(reasons({ m: "80+0", n: "64+32", k: 128 })[1], undefined);
  for (
    const [values, why] of [
      [{ m: "80+176", n: "64+32", k: 128 }, /one N and one K/],
      [{ m: "80+176", n: 64, k: "128+64" }, /one N and one K/],
      [{ m: "80", n: 64, k: 128, layout: "nt-mmajor" }, /M-major/],
    ] as const
  ) {
    const [eager, one] = reasons(values);
    assertEquals(eager, undefined);
    assertMatch(one!, why);
  }
});

Deno.test("peers.fields() of swiglu are its sizes and its type", () => {
  const point = swiglu.point({ m: 2, n: 24, k: 64, type: "f16" });
  assertEquals(
    swigluPeers.fields(problemOf(swiglu, point)),
    { m: 2, n: 24, k: 64, type: "f16" },
  );
});
