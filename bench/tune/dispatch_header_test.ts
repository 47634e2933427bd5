import { assertEquals, assertMatch } from "@std/assert";
import { join } from "node:path";
import { dispatchHeader, type DispatchTable } from "./dispatch_header.ts";

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
