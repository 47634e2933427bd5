import { deepStrictEqual, match } from "node:assert/strict";
import { problemOf } from "../bench/model/suite.ts";
import { groupedMatmul } from "../kernels/grouped/mod.ts";
import { peersOf, peerUnsupported, problemFields } from "./torch.ts";

const problem = (values: Record<string, number | string>) =>
  problemOf(groupedMatmul, groupedMatmul.point(values));

Deno.test("groupedPeers.fields() has the sizes of each product that has rows", () => {
  const list = problem({ m: "80+0+7", n: "64+32+48", k: "128+256+512" });
  deepStrictEqual(problemFields(list), {
    op: "grouped-matmul",
    groups: [[80, 64, 128], [7, 48, 512]],
    m_major: false,
  });
});

Deno.test("groupedPeers.unsupported() says what one call does not take", () => {
  const reasons = (values: Record<string, number | string>) =>
    peersOf("grouped-matmul").map((peer) =>
      peerUnsupported(peer, { problem: problem(values), sizes: [] })
    );
  deepStrictEqual(reasons({ m: "80+176", n: 64, k: 128 }), [
    undefined,
    undefined,
  ]);
  // What has no rows has no part.
  deepStrictEqual(reasons({ m: "80+0", n: "64+32", k: 128 })[1], undefined);
  for (
    const [values, why] of [
      [{ m: "80+176", n: "64+32", k: 128 }, /one N and one K/],
      [{ m: "80+176", n: 64, k: "128+64" }, /one N and one K/],
      [{ m: "80", n: 64, k: 128, layout: "nt-mmajor" }, /M-major/],
    ] as const
  ) {
    const [eager, one] = reasons(values);
    deepStrictEqual(eager, undefined);
    match(one!, why);
  }
});
