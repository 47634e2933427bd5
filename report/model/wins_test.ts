import { assert, assertEquals } from "@std/assert";
import { readCsv } from "../../bench/row/read_csv.ts";
import { publishedRow } from "../import/foreign.ts";
import { pivots } from "./pivot.ts";
import { allWins, type Wins, winsOf } from "./wins.ts";

/** The recorded decompose-k figures of `versions` of `suite`, as one table. */
function published(suite: string, versions: readonly string[]) {
  const rows = versions.flatMap((version) => {
    const path = `../../results/published/decompose-k-${version}.csv`;
    const text = Deno.readTextFileSync(new URL(path, import.meta.url));
    return readCsv(text, path).filter((row) => row.suite === suite);
  });
  return pivots(rows, { baselines: () => [] })[0]!;
}

function counts({ wins, ties, losses }: Wins): string {
  return `${wins}/${ties}/${losses}`;
}

/**
 * Asserts that `text`, a figure of three digits or `min/median/max`, agrees with `found`. A
 * figure that ends in exactly 5 may have been rounded either way: one is 1.8125.
 */
function agree(found: readonly (number | undefined)[], text: string): void {
  const printed = text.split("/").map(Number);
  assertEquals(found.length, printed.length);
  for (const [i, figure] of printed.entries()) {
    assert(
      Math.abs(found[i]! - figure) < 0.5e-3 + 1e-12,
      `${found[i]}: ${text}`,
    );
  }
}

function spread({ min, median, max }: Wins): (number | undefined)[] {
  return [min, median, max];
}

/**
 * Facts about the recorded figures: version, suite, and decomposeK against the custom op
 * (counts, spread, geomean), against eager and against compiled.
 */
const SUMMARY = [
  "v1 epilogue-bf16 0/0/28 .874/.917/.982 .917 1.173/1.347/1.599 1.093/1.227/1.370",
  "v1 matmul-bf16 0/0/28 .886/.920/.956 .922 .981/1.118/1.248 .911/.969/1.020",
  "v1 matmul-fp16 0/0/28 .872/.925/.986 .925",
  "v1 matmul-fp32 10/0/18 .779/.917/1.204 .950 .951/1.279/1.557",
  "v2 epilogue-bf16 26/1/1 .990/1.026/1.080 1.027 1.379/1.532/1.737 1.220/1.352/1.488",
  "v2 matmul-bf16 24/2/2 .997/1.022/1.052 1.023 1.096/1.239/1.378 1.019/1.074/1.169",
  "v2 matmul-fp16 27/0/1 .995/1.027/1.073 1.031",
  "v2 matmul-fp32 23/1/4 .971/1.103/1.370 1.115 1.246/1.442/1.812",
  "v3 epilogue-bf16 27/0/1 .998/1.033/1.085 1.034",
  "v3 matmul-bf16 28/0/0 1.001/1.035/1.074 1.032",
  "v3 matmul-fp16 25/2/1 .995/1.031/1.048 1.028",
  "v3 matmul-fp32 26/0/2 .985/1.142/1.378 1.134",
];

for (const line of SUMMARY) {
  const [version, suite, count, range, mean, eager, compiled] = line.split(" ");
  Deno.test(`winsOf() counts ${version} of ${suite} as recorded`, () => {
    const table = published(suite!, [version!]);
    const [own, end] = suite!.startsWith("epilogue")
      ? ["decomposeK-fused-relu", "+relu"]
      : ["decomposeK", ""];
    const against = (other: string) => winsOf(table, own, `${other}${end}`);
    const custom = against("custom-op-mm");
    assertEquals([counts(custom), custom.missing], [count, 0]);
    agree(spread(custom), range!);
    agree([custom.geomean], mean!);
    if (eager) agree(spread(against("torch.mm")), eager);
    if (compiled) agree(spread(against("compiled-torch.mm")), compiled);
  });
}

/** Suite, versions, two kernels, counts, spread. */
const PAIRS = [
  "epilogue-bf16 v1 decomposeK-fused-relu decomposeK+relu 28/0/0 1.170/1.239/1.335",
  "epilogue-bf16 v2 decomposeK-fused-relu decomposeK+relu 28/0/0 1.194/1.294/1.405",
  "epilogue-bf16 v3 TLX-decomposeK-fused-relu decomposeK-fused-relu 26/1/1 .995/1.036/1.072",
  "epilogue-bf16 v3 TLX-decomposeK-fused-relu custom-op-mm+relu 28/0/0 1.014/1.068/1.143",
  "matmul-bf16 v3 TLX-decomposeK decomposeK 28/0/0 1.005/1.045/1.085",
  "matmul-fp16 v3 TLX-decomposeK decomposeK 27/0/1 .997/1.027/1.074",
  "epilogue-bf16 v1,v2 decomposeK-fused-relu@decompose-k-v2 decomposeK-fused-relu@decompose-k-v1 28/0/0 1.034/1.082/1.141",
];

for (const line of PAIRS) {
  const [suite, versions, kernel, other, count, range] = line.split(" ");
  Deno.test(`winsOf() counts ${kernel} against ${other} of ${suite} ${versions}`, () => {
    const table = published(suite!, versions!.split(","));
    const wins = winsOf(table, kernel!, other!);
    assertEquals(counts(wins), count);
    agree(spread(wins), range!);
  });
}

/** The median speed-up of the second version of decomposeK. */
const IMPROVED = {
  "matmul-bf16": "1.080",
  "matmul-fp16": "1.083",
  "matmul-fp32": "1.136",
};

for (const [suite, median] of Object.entries(IMPROVED)) {
  Deno.test(`winsOf() finds v2 faster than v1 at every shape of ${suite}`, () => {
    const table = published(suite, ["v1", "v2"]);
    const name = (version: string) => `decomposeK@decompose-k-${version}`;
    const wins = winsOf(table, name("v2"), name("v1"));
    assertEquals(counts(wins), "28/0/0");
    agree([wins.median], median);
  });
}

/** A row that was measured here. */
function row(kernel: string, m: string, median_us: string) {
  const published = publishedRow({
    suite: "s",
    a_type: "bf16",
    b_type: "bf16",
    c_type: "bf16",
    kernel,
    m,
    n: "16",
    k: "64",
    device: "D",
    run: "r",
    median_us,
  });
  return { ...published, harness: "0.2.0" };
}

Deno.test("allWins() counts only shapes at which both have a time", () => {
  const rows = [
    row("a", "16", "2"),
    row("b", "16", "4"),
    row("a", "32", "2"),
    { ...row("b", "32", "1"), status: "wrong" },
  ];
  const table = pivots(rows, { baselines: () => [] })[0]!;
  assertEquals(allWins(table, ["b", "nobody"]), [{
    kernel: "a",
    against: "b",
    wins: 1,
    ties: 0,
    losses: 0,
    missing: 1,
    suspect: 0,
    min: 2,
    median: 2,
    max: 2,
    geomean: 2,
    noisy: 0,
    lost: [],
  }]);
});

Deno.test("allWins() against several has the fastest of the others against the fastest of them", () => {
  const rows = [
    ...[row("x", "16", "8"), row("y", "16", "6"), row("a", "16", "3")],
    ...[row("b", "16", "5"), row("x", "32", "4"), row("y", "32", "5")],
    ...[row("a", "32", "8"), row("b", "32", "2")],
    // No shape of the peers.
    row("a", "48", "1"),
  ];
  const table = pivots(rows, { baselines: () => [] })[0]!;
  const wins = allWins(table, ["x", "y"]);
  const found = wins.filter(({ against }) => against === "the fastest of x, y")
    .map((of) => [of.kernel, counts(of), of.missing, of.min, of.max]);
  assertEquals(found, [
    ["the fastest of ours", "2/0/0", 1, 2, 2],
    ["a", "1/0/1", 1, 0.5, 2],
    ["b", "2/0/0", 1, 1.2, 2],
  ]);
  // One alone has no fastest, ours have.
  assertEquals(
    allWins(table, ["x"]).map((of) => [of.kernel, of.against, counts(of)]),
    [
      ["the fastest of ours", "x", "2/0/0"],
      ["y", "x", "1/0/1"],
      ["a", "x", "1/0/1"],
      ["b", "x", "2/0/0"],
    ],
  );
});
