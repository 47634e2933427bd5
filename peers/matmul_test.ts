import { deepStrictEqual, match } from "node:assert/strict";
import { problemOf } from "../bench/model/suite.ts";
import { matmul } from "../kernels/matmul/mod.ts";
import { peersOf, peerUnsupported, problemFields } from "./torch.ts";

const problem = (values: Record<string, number | string>) =>
  problemOf(matmul, matmul.point({ m: 16, n: 16, k: 256, ...values }));
const PEERS = peersOf("matmul");

Deno.test("matmulPeers.unsupported() says what a peer cannot be measured at", () => {
  const reasons = (
    values: Record<string, number | string>,
    { sizes = [16] } = {},
  ) =>
    Object.fromEntries(
      PEERS.map((peer) => [
        peer.name,
        peerUnsupported(peer, { problem: problem(values), sizes }),
      ]).filter(([, reason]) => reason !== undefined),
    );
  const plain = reasons({ epilogue: "none" });
  deepStrictEqual(Object.keys(plain), [
    "torch-custom-op-mm-relu",
    "torch-dynamic",
  ]);
  match(plain["torch-custom-op-mm-relu"]!, /no epilogue/);
  match(plain["torch-dynamic"]!, /several M/);
  deepStrictEqual(reasons({ epilogue: "bias+relu" }, { sizes: [1, 16] }), {});
  const own = problem({});
  const mixed = { ...own, key: { ...own.key, b_type: "f32" as const } };
  match(
    peerUnsupported(PEERS[0]!, { problem: mixed, sizes: [16] })!,
    /one type of bf16, f16, f32/,
  );
});

Deno.test("matmulPeers.fields() has distances between rows where none are given", () => {
  const fields = { op: "matmul", m: 16, n: 16, k: 256, type: "bf16" };
  deepStrictEqual(problemFields(problem({ type: "bf16", epilogue: "relu" })), {
    ...fields,
    layout: "nn",
    epilogue: "relu",
    lda: 256,
    ldb: 16,
  });
});
