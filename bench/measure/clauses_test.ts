import { assertEquals } from "@std/assert";
import { clausesOf, type Measured } from "./clauses.ts";

const ALL: Measured = {
  fill: "uniform",
  sets: 16,
  inputBytes: 8 << 20,
  cacheBytes: 50 << 20,
  calls: 16,
  samples: 63,
  warmup_ms: 3000,
  throttle: "applications_clocks_setting",
};

Deno.test("clausesOf() names each clause that is met, and no other", () => {
  assertEquals(clausesOf(ALL), "fill+rotation+clocks+gaps+count");
  const without: readonly [string, Partial<Measured>][] = [
    ["fill", { fill: "normal" }],
    ["rotation", { inputBytes: 6 << 20 }],
    // A problem of twice the cache needs a second buffer all the same.
    ["rotation", { sets: 1, inputBytes: 1 << 30 }],
    ["clocks", { warmup_ms: 10 }],
    ["clocks", { throttle: "sw_power_cap" }],
    ["gaps", { calls: 1, samples: 1008 }],
    ["count", { samples: 62 }],
  ];
  for (const [clause, change] of without) {
    const others = "fill+rotation+clocks+gaps+count".split("+")
      .filter((name) => name !== clause).join("+");
    assertEquals(clausesOf({ ...ALL, ...change }), others, clause);
  }
  assertEquals(
    clausesOf({ ...ALL, throttle: undefined, fill: "normal", calls: 1 }),
    "rotation+clocks",
  );
});
