import {
  assert,
  assertEquals,
  assertMatch,
  assertStrictEquals,
} from "@std/assert";
import { isPeerCase, PYTHON_VARIABLE } from "../bench/model/peer.ts";
import { defineSuite } from "../bench/model/suite.ts";
import { caseText, keyOf } from "../bench/row/row.ts";
import { evaluated } from "../cli/testdata/program.ts";
import { matmul } from "../kernels/matmul/mod.ts";
import { naive } from "../kernels/matmul/cpu/cpu.ts";
import { ops } from "../kernels/mod.ts";
import { casesWithin } from "../session/cases.ts";
import { builtInSuites } from "../suites/mod.ts";
import { peersElsewhere, peersOf, sourcesOf, withPeers } from "./cases.ts";

const [mlxQmm] = await builtInSuites(["mlx-qmm"]);
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
  const cases = [...withPeers(router).cases("all")];
  assertEquals(cases.length, 6 * (1 + peersOf("matmul")!.peers.length));
  assertEquals(
    new Set(cases.map((c) => caseText(keyOf(c)))).size,
    cases.length,
  );
  assertEquals(cases.map((c) => isPeerCase(c)), cases.map((_, i) => i >= 6));
  assertEquals(
    new Set(cases.slice(-6).map((c) => c.kernel)),
    new Set(["torch-dynamic"]),
  );
  // All peers of a problem follow each other: its inputs are loaded once.
  const problems = cases.slice(6, -6).map((c) => c.problem);
  assertEquals(problems.filter((p, i) => p !== problems[i - 1]).length, 6);
  assertEquals(new Set(cases.map((c) => c.problem)).size, 6);
  // That a problem comes back with its peers makes no two points of it.
  const filter = { kernels: [], points: "all", overrides: {} } as const;
  assertEquals(casesWithin([withPeers(router)], filter).length, cases.length);
  const other = { ...router, op: "other" };
  assertStrictEquals(withPeers(other), other);
});

Deno.test("withPeers() adds the peers of the suite's own operation", () => {
  const suite = withPeers(mlxQmm!);
  const names = suite.kernels.filter(({ backend }) => backend === "cuda")
    .map(({ name }) => name);
  assertEquals(names.slice(-3), [
    "torch-eager",
    "torch-compiled",
    "torch-int4pack",
  ]);
  const [one] = [...suite.cases("quick", { m: [1] })].filter(isPeerCase);
  assertMatch(one!.peer.idea, /16-bit weights/);
});

Deno.test("withPeers() makes the same cases again at the places of some", () => {
  const suite = withPeers(router);
  const cases = [...suite.cases("all")];
  const places = new Set(cases.filter(isPeerCase).map(({ place }) => place));
  assertEquals(
    [...suite.at([...places])].map((c) => caseText(keyOf(c))),
    cases.map((c) => caseText(keyOf(c))),
  );
});

Deno.test("a dynamic graph serves the values of M at the same N and K", () => {
  const info = undefined as never;
  const dynamic = (m: readonly number[]) =>
    [...withPeers(router).cases("all", { m })].filter(isPeerCase)
      .filter(({ peer }) => peer.kind === "dynamic");
  const [one] = dynamic([16, 1, 64]);
  assertEquals(one!.ranges, [1, 16, 64]);
  assertEquals(one!.unsupported(info), undefined);
  const [many] = dynamic([1, 2, 4, 8, 16, 32, 64, 100]);
  assertEquals(many!.ranges, [1, 16, 64, 100]);
  const alone = dynamic([8]).map((c) => c.unsupported(info));
  assertEquals(alone.length, 2);
  for (const why of alone) assertMatch(why!, /several M/);
});

Deno.test("peersElsewhere() says that no device here runs them", () => {
  const peers = { set: "torch", python: "python3" } as const;
  assertEquals(peersElsewhere({ backend: "cuda", peers }), []);
  assertEquals(peersElsewhere({ backend: "cpu" }), []);
  const [note] = peersElsewhere({ backend: "cpu", peers });
  assertMatch(note!, /cuda only.*torch-eager/);
});

Deno.test("pythonOf() prefers what was asked for, then the environment", async () => {
  const found = (path: string | undefined) =>
    evaluated(
      new URL("./cases.ts", import.meta.url),
      '[m.pythonOf("mine"), m.pythonOf(undefined)]',
      { [PYTHON_VARIABLE]: path },
    );
  assertEquals(await found("/env/python"), ["mine", "/env/python"]);
  assertEquals(await found(undefined), ["mine", "python3"]);
});

for (const { op, peers } of ops) {
  if (peers === undefined) continue;
  Deno.test(`the peers of ${op.name} have their Python`, () => {
    const files = sourcesOf(peers).map(({ href }) => href);
    const { module, plan, search } = peers;
    const own = [module, plan, search].filter((url) => url !== undefined);
    assertEquals(own.filter(({ href }) => !files.includes(href)), []);
    const searched = peers.peers.some(({ kind }) => kind === "search");
    assertEquals([plan, search].every((url) => url !== undefined), searched);
    // The names of calls stand in both languages.
    const text = Deno.readTextFileSync(module);
    const [, calls] = /^CALLS = (\{[^}]*\})/m.exec(text)!;
    assertEquals(
      [...calls!.matchAll(/"([^"]+)":/g)].map(([, name]) => name).toSorted(),
      peers.peers.filter(({ kind }) => kind === "call").map(({ name }) => name)
        .toSorted(),
    );
  });
}

Deno.test("the sources of a peer's row are what is measured, not what measures", () => {
  const [one] = [...withPeers(router).cases("all")].filter(isPeerCase);
  const { module } = peersOf("matmul")!;
  const sources = one!.builds({}).map(({ source }) => source.href);
  assert(sources.includes(module.href), `${sources}`);
  const folder = new URL("./", module).href;
  assertEquals(sources.filter((href) => !href.startsWith(folder)), []);
});
