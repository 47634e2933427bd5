import { assert, assertEquals, assertMatch } from "@std/assert";
import {
  dispatchRanges,
  type Measurement,
  probesOf,
  spansOf,
} from "./dispatch.ts";
import { dispatchHeader, type DispatchTable } from "./dispatch_header.ts";
import { join } from "node:path";

const BOUNDS = [1, 8, 32, 128, 512];

/** Every option at every probe of `spans`, by its cost; an infinite one is illegal there. */
function measure(
  costs: Readonly<Record<string, (m: number) => number>>,
  spans = spansOf(BOUNDS),
): Measurement[] {
  return spans.flatMap(probesOf).flatMap((at) =>
    Object.entries(costs).map(([name, cost]) => {
      const [kernel, config] = name.split("/");
      return { at, option: { kernel: kernel!, config: config! }, us: cost(at) };
    })
  ).filter(({ us }) => us < Infinity);
}

Deno.test("dispatchRanges() finds where one kernel overtakes another", () => {
  // dot costs 2 + m, tiles 30 + m / 8: they cross at 32.
  const measured = measure({
    "dot/": (m) => 2 + m,
    "tiles/BM=64": (m) => 30 + m / 8,
  });
  const ranges = dispatchRanges(spansOf(BOUNDS), measured);
  assertEquals(
    ranges.map(({ from, to, option, loss }) => [from, to, option.kernel, loss]),
    [[1, 32, "dot", 0], [33, 512, "tiles", 0]],
  );
  // 1; 2, 4, 8; 9, 17, 32 and 33, 65, 128; 129, 257, 512.
  assertEquals(ranges.map(({ points }) => points.map(({ at }) => at)), [
    [1, 2, 4, 8, 9, 17, 32],
    [33, 65, 128, 129, 257, 512],
  ]);
});

Deno.test("dispatchRanges() reports what a range loses against its own best", () => {
  // They cross at 20, within 9 to 32: at 9 and 17 dot is faster, at 32 tiles.
  const dot = (m: number) => 2 + m;
  const tiles = (m: number) => 19.5 + m / 8;
  const [range, ...rest] = dispatchRanges([{ from: 9, to: 32 }], [
    ...measure({ "dot/": dot, "tiles/": tiles }, [{ from: 9, to: 32 }]),
  ]);
  assertEquals(rest, []);
  // dot loses 34 to 23.5 at 32, tiles 20.625 to 11 and 21.625 to 19.
  assertEquals(range!.option.kernel, "dot");
  assert(Math.abs(range!.loss - ((34 / 23.5) ** (1 / 3) - 1)) < 1e-12);
  assert(Math.abs(range!.worst - (34 / 23.5 - 1)) < 1e-12);
  assertEquals(range!.points.at(-1), {
    at: 32,
    us: 34,
    best: { kernel: "tiles", config: "" },
    best_us: 23.5,
  });
});

Deno.test("dispatchRanges() tells configs of one kernel apart, and merges equals", () => {
  const ranges = dispatchRanges(
    spansOf(BOUNDS),
    measure({
      "k/BM=16": (m) => 10 + m,
      "k/BM=32": (m) => m <= 32 ? 11 + m : 12,
    }),
  );
  assertEquals(
    ranges.map(({ from, to, option }) => [from, to, option.config]),
    [[1, 32, "BM=16"], [33, 512, "BM=32"]],
  );
});

Deno.test("dispatchRanges() keeps a cut beside which another option would be faster", () => {
  const cuts = (costs: Parameters<typeof measure>[0]) =>
    dispatchRanges(spansOf([16, 64]), measure(costs, spansOf([16, 64])))
      .map(({ from, to, option, points, worst }) =>
        [`${from}-${to}`, option.kernel, points.length, worst] as const
      );
  const all = (m: number) => 10 + m;
  // At 1 another one is faster by a half, at 17 by 4 %.
  assertEquals(
    cuts({ "all/": all, "one/": (m) => m === 1 ? 5.5 : 1000 }),
    [["1-16", "all", 3, 1], ["17-64", "all", 3, 0]],
  );
  assertEquals(
    cuts({ "all/": all, "one/": (m) => m === 17 ? 26 : 1000 })
      .map(([range]) => range),
    ["1-64"],
  );
  // Faster by 6 % is too much to hide.
  assertEquals(
    cuts({ "all/": all, "one/": (m) => m === 17 ? 25.5 : 1000 })
      .map(([range]) => range),
    ["1-16", "17-64"],
  );
  // It is the upper end for which a cut is made.
  assertEquals(
    cuts({ "all/": all, "one/": (m) => m === 16 ? 25 : 1000 })
      .map(([range]) => range),
    ["1-16", "17-64"],
  );
  // Equals are no reason to cut.
  assertEquals(
    cuts({ "one/": (m) => m === 16 ? 26 : 1000, "all/": all })
      .map(([range]) => range),
    ["1-64"],
  );
});

Deno.test("dispatchRanges() cuts a range where no option is legal throughout", () => {
  const ranges = dispatchRanges(
    [{ from: 9, to: 32 }],
    measure({
      "k/BM=16": (m) => m <= 16 ? 1 : Infinity,
      "k/BM=32": (m) => m > 16 ? 2 : Infinity,
    }, [{ from: 9, to: 32 }]),
  );
  assertEquals(
    ranges.map(({ from, to, option }) => [from, to, option.config]),
    [[9, 9, "BM=16"], [10, 32, "BM=32"]],
  );
});

Deno.test("dispatchRanges() takes what is the fastest at the size that a range is for", () => {
  const spans = [{ from: 1, to: 512, opt: 32 }];
  const costs = {
    "small/": (m: number) => m <= 32 ? 9 : 100,
    "large/": (m: number) => m <= 6 ? 11 : 10,
  };
  const [range, ...rest] = dispatchRanges(spans, measure(costs, spans));
  assertEquals(rest, []);
  const { from, to, opt, option, points, worst } = range!;
  assertEquals([from, to, opt, option.kernel], [1, 512, 32, "small"]);
  assertEquals(points.map(({ at, us, best_us }) => [at, us, best_us]), [
    ...[[1, 9, 9], [6, 9, 9], [32, 9, 9], [128, 100, 10], [512, 100, 10]],
  ]);
  assert(Math.abs(worst - 9) < 1e-12);
  // Over all sizes the other one loses less.
  const plain = [{ from: 1, to: 512 }];
  assertEquals(
    dispatchRanges(plain, measure(costs, plain)).map((r) => r.option.kernel),
    ["large"],
  );
  // What is not legal at an end is no choice: the end is cut off.
  const ending = { ...costs, "large/": () => Infinity };
  const short = { ...ending, "small/": (m: number) => m > 1 ? 9 : Infinity };
  assertEquals(
    dispatchRanges(spans, [
      ...measure(short, spans),
      { at: 1, option: { kernel: "dot", config: "" }, us: 1 },
    ]).map((r) => [r.from, r.to, r.opt, r.option.kernel]),
    [[1, 1, undefined, "dot"], [2, 512, 32, "small"]],
  );
});

Deno.test("dispatchRanges() leaves out what was not measured", () => {
  assertEquals(dispatchRanges(spansOf(BOUNDS), []), []);
});

Deno.test("dispatchRanges() ends a range where nothing ran, and begins it behind", () => {
  const small = { "k/": (m: number) => m <= 4 ? 1 : Infinity };
  assertEquals(
    dispatchRanges(spansOf([8, 16]), measure(small, spansOf([8, 16])))
      .map(({ from, to }) => [from, to]),
    [[1, 3]],
  );
  const holed = { "k/": (m: number) => m === 3 ? Infinity : 1 };
  assertEquals(
    dispatchRanges(spansOf([8]), measure(holed, spansOf([8])))
      .map(({ from, to }) => [from, to]),
    [[1, 1], [8, 8]],
  );
  const large = { "k/": (m: number) => m < 8 ? Infinity : 1 };
  assertEquals(
    dispatchRanges(spansOf([8, 16]), measure(large, spansOf([8, 16])))
      .map(({ from, to }) => [from, to]),
    [[8, 16]],
  );
});

const range = (from: number, to: number, config: string) => ({
  from,
  to,
  option: { kernel: config ? "tiles" : "dot", config },
  points: [],
  loss: 0.0125,
  worst: 0.03,
});
const tables: readonly DispatchTable[] = [
  {
    op: "matmul",
    axis: "m",
    axes: { n: "256", k: "7168", layout: "nn" },
    ranges: [range(1, 8, ""), range(9, 128, 'BM=16 MODE=a"b')],
  },
  {
    op: "matmul",
    axis: "m",
    axes: { n: null, k: "8192", layout: "nn" },
    ranges: [range(1, 64, "BM=8")],
  },
];
const origin = {
  device: "GPU */ one",
  arch: "sm_90a",
  driver: "1",
  date: "2026-01-01",
  harness: "0",
};

/** Looks sizes up and prints what it finds. */
const CALLER = `#include "dispatch.h"
#include <stdio.h>
#include <stdlib.h>
static void ask(const char *m, const char *n, const char *k) {
  const mnkbench_axis axes[] = {
      {"layout", "nn"}, {"k", k}, {"m", m}, {"n", n}};
  const mnkbench_table *t = mnkbench_find("matmul", axes, 4);
  const mnkbench_range *r = t ? mnkbench_choose(t, atol(m)) : NULL;
  if (!r) { printf("%s\\n", t ? "beyond" : "none"); return; }
  printf("%s|%s", r->kernel, r->config);
  for (size_t i = 0; i < r->tunable_count; i++)
    printf("|%s %s %ld", r->tunables[i].name, r->tunables[i].text, r->tunables[i].value);
  printf("|%g\\n", r->loss);
}
int main(void) {
  ask("1", "256", "7168"); ask("8", "256", "7168"); ask("9", "256", "7168"); ask("128", "256", "7168");
  ask("129", "256", "7168"); ask("0", "256", "7168"); ask("1", "255", "7168");
  ask("32", "32", "8192"); ask("32", "33", "8192");
  return 0;
}
`;

function has(tool: string): boolean {
  try {
    return new Deno.Command(tool, { args: ["--version"], stdout: "null" })
      .outputSync().success;
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return false;
    throw error;
  }
}

const cc = has("cc");
Deno.test({
  name: `dispatchHeader() compiles without a warning and finds${
    cc ? "" : " (no cc)"
  }`,
  ignore: !cc,
  async fn() {
    const dir = await Deno.makeTempDir();
    try {
      const file = (name: string) => join(dir, name);
      await Deno.writeTextFile(
        file("dispatch.h"),
        dispatchHeader(tables, origin),
      );
      await Deno.writeTextFile(file("ask.c"), CALLER);
      const built = await new Deno.Command("cc", {
        args: [
          ...["-std=c99", "-Wall", "-Wextra", "-Werror", "-pedantic"],
          ...["-o", file("ask"), file("ask.c")],
        ],
      }).output();
      assertEquals(new TextDecoder().decode(built.stderr), "");
      const { stdout } = await new Deno.Command(file("ask")).output();
      assertEquals(new TextDecoder().decode(stdout).trim().split("\n"), [
        "dot||0.0125",
        "dot||0.0125",
        'tiles|BM=16 MODE=a"b|BM 16 16|MODE a"b 0|0.0125',
        'tiles|BM=16 MODE=a"b|BM 16 16|MODE a"b 0|0.0125',
        "beyond",
        "beyond",
        "none",
        "tiles|BM=8|BM 8 8|0.0125",
        "none",
      ]);
    } finally {
      await Deno.remove(dir, { recursive: true });
    }
  },
});

Deno.test("dispatchHeader() says where it is from, in a comment that ends where it should", () => {
  const [first, second] = dispatchHeader(tables, origin).split("\n");
  assertMatch(first!, /^\/\* Which kernel .* mnkbench 0 \*\/$/);
  assertEquals(
    second,
    "/* on GPU * / one (sm_90a, driver 1), 2026-01-01. */",
  );
});
