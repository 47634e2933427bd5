import { deepStrictEqual, match, strictEqual } from "node:assert/strict";
import { peersOf } from "./torch.ts";
import { keyOf, keyText } from "../bench/row/row.ts";
import { defineSuite } from "../bench/model/suite.ts";
import { evaluated } from "../cli/testdata/program.ts";
import { matmul } from "../kernels/matmul/mod.ts";
import { naive } from "../kernels/matmul/cpu/naive.ts";
import mlxQmm from "../suites/mlx-qmm.ts";
import {
  besidePeers,
  isPeer,
  peerCases,
  peerOf,
  peersElsewhere,
  PYTHON_VARIABLE,
  rangesBeside,
  withPeers,
} from "./peer_cases.ts";

const router = defineSuite({
  name: "router",
  title: "Router",
  op: matmul,
  axes: { m: [16, 1, 64], n: [32, 48], k: [128] },
  fixed: { type: "bf16", epilogue: "relu" },
  kernels: [naive],
  baselines: ["naive"],
});

Deno.test("withPeers() adds a case of each peer at each problem, dynamic ones last", () => {
  const suite = withPeers(router);
  const cases = [...suite.cases("all")];
  strictEqual(cases.length, 6 * (1 + peersOf("matmul").length));
  strictEqual(new Set(cases.map((c) => keyText(keyOf(c)))).size, cases.length);
  deepStrictEqual(
    cases.map((c) => isPeer(c)),
    cases.map((_, i) => i >= 6),
  );
  deepStrictEqual(
    new Set(cases.slice(-6).map((c) => c.kernel)),
    new Set(["torch-dynamic"]),
  );
  // All peers of a problem follow each other: its inputs are loaded once.
  const problems = cases.slice(6, -6).map((c) => c.problem);
  strictEqual(
    problems.filter((p, i) => p !== problems[i - 1]).length,
    6,
  );
  strictEqual(new Set(cases.map((c) => c.problem)).size, 6);
  strictEqual(besidePeers([router], undefined)[0], router);
  const other = { ...router, op: "other" };
  strictEqual(withPeers(other), other);
});

Deno.test("withPeers() adds those of the suite's own operation", () => {
  const suite = withPeers(mlxQmm);
  const names = (backend: string) =>
    suite.kernels.filter((k) => k.backend === backend).map(({ name }) => name);
  deepStrictEqual(names("cuda").slice(-3), [
    "torch-eager",
    "torch-compiled",
    "torch-int4pack",
  ]);
  const [one] = [...suite.cases("quick", { m: [1] })].filter(isPeer);
  strictEqual(one && peerOf(one)?.name, "torch-eager");
  match(one && peerOf(one)?.idea || "", /16-bit weights/);
});

Deno.test("rangesBeside() has the values of M at the same N and K", () => {
  const cases = [...peerCases([...router.cases("all")])];
  deepStrictEqual(rangesBeside(cases[0]!, cases), [1, 16, 64]);
  const many = [...peerCases([
    ...router.cases("all", { m: [1, 2, 4, 8, 16, 32, 64, 100] }),
  ])];
  deepStrictEqual(rangesBeside(many[0]!, many), [1, 16, 64, 100]);
  const info = undefined as never;
  deepStrictEqual(cases.filter((c) => c.unsupported(info) !== undefined), []);
  const alone = [...peerCases([...router.cases("all", { m: [8] })])];
  deepStrictEqual(
    alone.filter((c) => c.unsupported(info) !== undefined).map((c) => c.kernel),
    ["torch-dynamic", "torch-dynamic"],
  );
});

Deno.test("peersElsewhere() says that no device here runs them", () => {
  const peers = { set: "torch", python: "python3" } as const;
  deepStrictEqual(peersElsewhere({ backend: "cuda", peers }), []);
  deepStrictEqual(peersElsewhere({ backend: "cpu" }), []);
  match(
    peersElsewhere({ backend: "cpu", peers })[0]!,
    /cuda only.*torch-eager/,
  );
});

Deno.test("pythonOf() prefers what was asked for, then the environment", async () => {
  const found = (path: string | undefined) =>
    evaluated(
      new URL("./peer_cases.ts", import.meta.url),
      '[m.pythonOf("mine"), m.pythonOf(undefined)]',
      { [PYTHON_VARIABLE]: path },
    );
  deepStrictEqual(await found("/env/python"), ["mine", "/env/python"]);
  deepStrictEqual(await found(undefined), ["mine", "python3"]);
});
