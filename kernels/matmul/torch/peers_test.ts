import { assertEquals, assertMatch } from "@std/assert";
import { problemOf } from "../../../bench/model/suite.ts";
import { matmul } from "../mod.ts";
import { peers } from "./peers.ts";

const problem = (values: Record<string, number | string>) =>
  problemOf(matmul, matmul.point({ m: 16, n: 16, k: 256, ...values }));

Deno.test("peers.unsupported() of matmul refuses types and epilogues that a peer has not", () => {
  const reasons = (one: ReturnType<typeof problem>) =>
    peers.peers.map((peer) => peers.unsupported!(peer, one))
      .filter((reason) => reason !== undefined);
  assertEquals(reasons(problem({ epilogue: "bias+relu" })), []);
  const [why, ...more] = reasons(problem({ epilogue: "none" }));
  assertMatch(why!, /no epilogue to fuse/);
  assertEquals(more, []);
  const own = problem({});
  const mixed = { ...own, key: { ...own.key, b_type: "f32" as const } };
  assertMatch(reasons(mixed)[0]!, /one type of bf16, f16, f32/);
});

Deno.test("peers.fields() of matmul has distances between rows where none are given", () => {
  assertEquals(peers.fields(problem({ type: "bf16", epilogue: "relu" })), {
    ...{ m: 16, n: 16, k: 256, type: "bf16", layout: "nn", lda: 256, ldb: 16 },
    ...{ epilogue: "relu", bias: false, relu: true },
  });
});
