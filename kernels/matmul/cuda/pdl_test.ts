import { deepStrictEqual, strictEqual } from "node:assert/strict";
import { h200 } from "../../testdata/h200.ts";
import {
  config,
  kernel,
  memoryOf,
  plan,
  seed,
  whats,
} from "../testdata/listener.ts";

Deno.test("decompose-k-pdl is decompose-k, its second launch alone overlapping", () => {
  const shape = { m: 16, n: 16, k: 8192, epilogue: "bias+relu" };
  const [pdl, plain] = ["decompose-k-pdl", "decompose-k"].map((name) =>
    plan(name, shape, config)
  );
  deepStrictEqual(whats(pdl!), whats(plain!));
  const [partial, sum] = pdl!.queue;
  deepStrictEqual(partial!.shape, plain!.queue[0]!.shape);
  deepStrictEqual(sum!.shape, { ...plain!.queue[1]!.shape, overlap: true });
  strictEqual(memoryOf(partial!.args[2]), memoryOf(sum!.args[0]));
});

Deno.test("decompose-k-pdl runs at decompose-k's config, built to overlap", () => {
  const { follows, builds } = kernel("decompose-k-pdl");
  strictEqual(follows, "decompose-k");
  const plain = kernel("decompose-k").builds(seed, config);
  deepStrictEqual(
    builds(seed, config),
    plain.map((b) => ({ ...b, defines: { ...b.defines, PDL: 1 } })),
  );
});

Deno.test("decompose-k-pdl is unsupported where nothing overlaps", () => {
  const { unsupported } = kernel("decompose-k-pdl");
  strictEqual(unsupported(seed, h200), undefined);
  strictEqual(
    unsupported(seed, { ...h200, arch: "sm_80" }),
    "sm_80 has no dependent launch: sm_90 has",
  );
});
