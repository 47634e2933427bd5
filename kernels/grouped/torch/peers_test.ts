import { assertEquals, assertMatch } from "@std/assert";
import { problemOf } from "../../../bench/model/suite.ts";
import { groupedMatmul } from "../mod.ts";
import { peers } from "./peers.ts";

const problem = (values: Record<string, number | string>) =>
  problemOf(groupedMatmul, groupedMatmul.point(values));

Deno.test("peers.fields() of grouped-matmul has the sizes of each product that has rows", () => {
  const list = problem({ m: "80+0+7", n: "64+32+48", k: "128+256+512" });
  assertEquals(peers.fields(list), {
    groups: [[80, 64, 128], [7, 48, 512]],
    m_major: false,
  });
});

Deno.test("peers.unsupported() of grouped-matmul says what one call does not take", () => {
  const reasons = (values: Record<string, number | string>) =>
    peers.peers.map((peer) => peers.unsupported!(peer, problem(values)));
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
