import { assertEquals, assertStrictEquals } from "@std/assert";
import {
  aboveSolNote,
  type Calibration,
  figuresOf,
  speedOfLight,
} from "./figures.ts";
import type { Problem } from "../model/suite.ts";

const problem = {
  key: { a_type: "bf16" },
  work: { flops: 4e9, bytes: 8e6 },
} as unknown as Problem;
const calibration: Calibration = {
  marker_us: 1,
  launch_us: 3.5,
  graph_us: 4,
  timer: "batch:16",
  call_us: 2,
  load: [{ bytes: 2048, us: 4 }, { bytes: 8_000_000, us: 8 }],
  peak: { bf16: 8e14, f16: 1e14 },
};
/** Of a median of 10 us and a mean that is far from it. */
const samples = Array.from(
  { length: 64 },
  (_, i) => i < 16 ? 50_000 : 10_000,
);
const batch = { calibration, timer: "batch:16" } as const;

Deno.test("figuresOf() gives rates of the median, and the timer's own floor", () => {
  const { median_us, tflops, gbps, floor_us } = figuresOf(
    problem,
    samples,
    batch,
  );
  assertEquals([median_us, tflops, gbps, floor_us], [10, 400, 800, 2]);
  const floorBy = (timer: "graph" | "do_bench") =>
    figuresOf(problem, samples, { calibration, timer }).floor_us;
  assertEquals([floorBy("graph"), floorBy("do_bench")], [4, 3.5]);
});

Deno.test("figuresOf() takes the peak of the type that the work names", () => {
  const { flops, bytes } = problem.work;
  const at = (type: "bf16" | "f16") =>
    speedOfLight(calibration, { flops, bytes, type });
  const named = {
    ...problem,
    work: { flops, bytes, type: "f16" },
  } as unknown as Problem;
  assertStrictEquals(figuresOf(problem, samples, batch).sol_us, at("bf16"));
  assertStrictEquals(figuresOf(named, samples, batch).sol_us, at("f16"));
  assertStrictEquals(at("bf16") !== at("f16"), true);
});

Deno.test("figuresOf() has no light of another timer, nor without one", () => {
  const without = [
    figuresOf(problem, samples, { calibration, timer: "graph" }),
    figuresOf(problem, samples, { calibration: undefined, timer: "graph" }),
  ];
  assertEquals(without.map(({ sol_us }) => sol_us), [undefined, undefined]);
  assertEquals(without.map(({ floor_us }) => floor_us), [4, 0]);
});

const curve: Calibration = {
  marker_us: 1,
  launch_us: 5,
  call_us: 4,
  load: [{ bytes: 1000, us: 5 }, { bytes: 2000, us: 6 }, {
    bytes: 4000,
    us: 10,
  }],
  peak: { bf16: 1e12 },
};
const at = (bytes: number, flops = 0) =>
  speedOfLight(curve, { bytes, flops, type: "bf16" });

Deno.test("speedOfLight() reads the load curve between and beyond its points", () => {
  assertStrictEquals(at(10), 5);
  assertStrictEquals(at(1000), 5);
  assertStrictEquals(at(1500), 5.5);
  assertStrictEquals(at(3000), 8);
  assertStrictEquals(at(8000), 18);
});

Deno.test("speedOfLight() takes the flops where they take longer", () => {
  assertStrictEquals(at(1000, 2e6), 6);
});

Deno.test("speedOfLight() is undefined where nothing was measured", () => {
  const nothing = { ...curve, load: [], peak: {} };
  assertStrictEquals(
    speedOfLight(nothing, { bytes: 1, flops: 1, type: "bf16" }),
    undefined,
  );
});

Deno.test("aboveSolNote() is of cold times below the bound", () => {
  const figures = { median_us: 9.8, sol_us: 10 };
  assertStrictEquals(
    aboveSolNote(figures, "cold"),
    "2.0 % less than the speed of light (sol_us)",
  );
  const none = [
    aboveSolNote(figures, "warm"),
    aboveSolNote({ median_us: 10, sol_us: 10 }, "cold"),
    aboveSolNote({ median_us: 1 }, "cold"),
  ];
  assertEquals(none, ["", "", ""]);
});
