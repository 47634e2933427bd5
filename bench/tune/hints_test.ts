import { assertEquals } from "@std/assert";
import { formatValues } from "../model/grid.ts";
import type { Candidate } from "../model/kernel.ts";
import type { CaseKey } from "../row/row.ts";
import { type HintRow, Hints } from "./hints.ts";
import { contenders, MOST_LEVEL, ordered } from "./levels.ts";

const key: CaseKey = {
  suite: "mine",
  op: "matmul",
  kernel: "tiled",
  backend: "cuda",
  a_type: "bf16",
  b_type: "bf16",
  c_type: "bf16",
  acc_type: "f32",
  layout: "nn",
  m: "16",
  n: "16",
  k: "1024",
  params: "epilogue=relu",
};

const row = (change: Partial<HintRow>): HintRow => ({
  ...key,
  suite: "recorded",
  params: "epilogue=none",
  timer: "graph",
  cache: "cold",
  arch: "sm_90a",
  status: "ok",
  median_us: "10",
  source_hash: "1",
  config: "I=0",
  ...change,
});

/** The model's best first: I=0, I=1, ... */
const legal: readonly Candidate[] = Array.from(
  { length: 200 },
  (_, i) => ({ config: { I: i }, predicted: 1 + i / 100 }),
);

const names = (list: readonly Candidate[] = []) =>
  list.map(({ config }) => formatValues(config));

const hintOf = (rows: readonly HintRow[], among = legal) =>
  new Hints(rows).of(key, among);

Deno.test("Hints leave out configs of chains where the kernel has one of a lone call, but for early calls", () => {
  const chain = row({ config: "I=40", timer: "chain:32:pdl" });
  assertEquals(names(hintOf([chain, row({ config: "I=60" })])?.near), ["I=60"]);
  assertEquals(names(hintOf([chain])?.near), ["I=40"]);
  const plain = row({ config: "I=50", timer: "chain:32" });
  const early = new Hints([chain, plain, row({ config: "I=60" })], true);
  assertEquals(names(early.of(key, legal)?.near), ["I=40"]);
  const lone = new Hints([plain, row({ config: "I=60" })], true);
  assertEquals(names(lone.of(key, legal)?.near), ["I=60"]);
});

Deno.test("Hints put the configs of the nearest shapes first, then the others by the model", () => {
  const hint = hintOf([
    row({ config: "I=90", m: "4096" }),
    row({ config: "I=80", m: "64" }),
    row({ config: "I=70", m: "32" }),
    row({ config: "I=60" }),
    row({ config: "I=60", m: "8192" }),
    row({ config: "I=50", m: "2048" }),
  ]);
  assertEquals(names(hint?.near), ["I=60", "I=70", "I=80"]);
  assertEquals(names(hint?.others), ["I=50", "I=90"]);
  assertEquals(
    names(ordered(legal, hint)).slice(0, 7),
    ["I=60", "I=70", "I=80", "I=50", "I=90", "I=0", "I=1"],
  );
});

Deno.test("Hints are nearer for the same types, layout and parameters, whatever the epilogue", () => {
  const hint = hintOf([
    row({ config: "I=1", layout: "nt" }),
    row({ config: "I=2", a_type: "f16" }),
    row({ config: "I=3", params: "epilogue=bias" }),
  ]);
  assertEquals(names(hint?.near), ["I=3", "I=2", "I=1"]);
  const bits = { ...key, params: "mode=affine bits=4" };
  const rows = [3, 4].map((bits) =>
    row({ config: `I=${bits}`, params: `mode=affine bits=${bits}` })
  );
  assertEquals(names(new Hints(rows).of(bits, legal)?.near), ["I=4", "I=3"]);
});

Deno.test("Hints are of rows of the same kernel that ran, at configs that are legal here", () => {
  for (
    const other of [
      { kernel: "other" },
      { op: "qmm" },
      { backend: "hip" },
      { status: "wrong" },
      { config: "" },
      { config: "I=1000" },
      // The library's own choice: no source was built.
      { source_hash: "" },
    ]
  ) {
    assertEquals(hintOf([row(other)]), undefined, JSON.stringify(other));
  }
  assertEquals(hintOf([]), undefined);
  assertEquals(hintOf([row({})], []), undefined);
});

Deno.test("Hints have the legal configs that differ least, where too few recorded ones are legal", () => {
  // Tiles and stages, and slices of which each shape has its own.
  const sliced = [3, 7].flatMap((S) =>
    [1, 2].flatMap((T) => [4, 5].map((W) => ({ config: { T, W, S } })))
  );
  const hint = hintOf([
    row({ config: "T=2 W=5 S=64" }),
    row({ config: "T=2 W=4 S=7", m: "32" }),
    row({ config: "T=1 W=9 S=64", m: "64" }),
    row({ config: "T=9 W=5 S=3", m: "128" }),
  ], sliced);
  // The third differs in two of three values from all.
  assertEquals(names(hint?.near), [
    "T=2 W=4 S=7",
    "T=2 W=5 S=3",
    "T=1 W=5 S=3",
  ]);
  assertEquals(names(hint?.others), []);
});

Deno.test("Hints know a kernel that was far behind at the nearest shape", () => {
  const at = (m: string, config: string, us: string, kernel = "tiled") =>
    row({ m, config, kernel, median_us: us });
  const rows = [
    at("16", "I=1", "10.6"),
    at("16", "J=1", "10", "faster"),
    at("64", "I=2", "10.4"),
    at("64", "J=1", "10", "faster"),
  ];
  assertEquals(hintOf(rows)?.behind, true);
  assertEquals(
    new Hints(rows).of({ ...key, m: "64" }, legal)?.behind,
    false,
  );
  // Calls of a chain take less each.
  assertEquals(
    hintOf([{ ...rows[0]!, median_us: "10.4" }, rows[1]!, {
      ...rows[1]!,
      timer: "chain:32",
      median_us: "6",
    }])?.behind,
    false,
  );
  // What is not searched is nobody's rival.
  assertEquals(
    hintOf([rows[0]!, { ...rows[1]!, config: "" }])?.behind,
    false,
  );
});

const counts = (rows: readonly HintRow[], list = legal) =>
  Array.from(
    { length: MOST_LEVEL + 1 },
    (_, level) => {
      const hint = hintOf(rows, list);
      return contenders(ordered(list, hint), level, hint).length;
    },
  );

Deno.test("contenders() of a recorded kernel are few up to level 3, all that a model keeps beyond", () => {
  const recorded = Array.from({ length: 9 }, (_, i) =>
    row({
      config: `I=${190 + i}`,
      m: `${16 * (i + 1)}`,
    }));
  // 151 are within 3x and more than 128 are kept; the nine are not among them.
  const steep = legal.map((one, i) => ({
    ...one,
    predicted: i < 150 ? 1 : 100,
  }));
  assertEquals(counts(recorded, steep), [1, 2, 4, 6, 159, 200]);
  // No builds that only this shape would have, but for the best by the model.
  assertEquals(counts(recorded.slice(0, 3)), [1, 2, 4, 4, 200, 200]);
  assertEquals(counts(recorded.slice(0, 1)), [1, 2, 2, 2, 200, 200]);
  const rival = row({ kernel: "faster", median_us: "5" });
  assertEquals(counts([...recorded, rival], steep), [1, 1, 2, 2, 159, 200]);
});

Deno.test("contenders() of a recorded kernel have the model's best from level 1 on", () => {
  const model = legal.map((one, i) => ({ ...one, predicted: i === 7 ? 1 : 2 }));
  const at = (level: number, rows: readonly HintRow[]) => {
    const hint = hintOf(rows, model);
    return names(contenders(ordered(model, hint), level, hint));
  };
  const rows = Array.from({ length: 9 }, (_, i) =>
    row({
      config: `I=${190 + i}`,
      m: `${16 * (i + 1)}`,
    }));
  assertEquals(at(0, rows).includes("I=7"), false);
  assertEquals(at(1, rows).at(-1), "I=7");
  assertEquals(at(2, rows).at(-1), "I=7");
  assertEquals(at(3, rows).at(-1), "I=7");
  assertEquals(at(3, rows).length, 6);
  assertEquals(at(3, rows.slice(0, 2)).length, 3);
  assertEquals(at(3, [...rows, row({ config: "I=7" })]).length, 6);
});

Deno.test("Hints leave out configs whose named values no longer exist", () => {
  const ways = ["ring", "tensor"].flatMap((LOAD) =>
    [1, 2].flatMap((T) => [4, 5].map((W) => ({ config: { LOAD, T, W } })))
  );
  const near = (config: string) => names(hintOf([row({ config })], ways)?.near);
  assertEquals(near("LOAD=ring T=1 W=6"), ["LOAD=ring T=1 W=4"]);
  assertEquals(near("LOAD=gone T=1 W=4"), []);
});
