import { assertStrictEquals } from "@std/assert";
import { speedOfLight } from "./calibrate.ts";

const calibration = {
  marker_us: 1,
  launch_us: 4,
  graph_us: 5,
  load: [{ bytes: 1000, us: 5 }, { bytes: 2000, us: 6 }, {
    bytes: 4000,
    us: 10,
  }],
  peak: { bf16: 1e12 },
};
const at = (bytes: number, flops = 0, graph = false) =>
  speedOfLight(calibration, { bytes, flops, type: "bf16", graph });

Deno.test("speedOfLight() reads the load curve between and beyond its points", () => {
  assertStrictEquals(at(10), 5);
  assertStrictEquals(at(1000), 5);
  assertStrictEquals(at(1500), 5.5);
  assertStrictEquals(at(3000), 8);
  assertStrictEquals(at(8000), 18);
});

Deno.test("speedOfLight() takes the flops where they take longer", () => {
  assertStrictEquals(at(1000, 2e6), 6);
  assertStrictEquals(at(1000, 2e6, true), 7);
});

Deno.test("speedOfLight() is undefined where nothing was measured", () => {
  const nothing = { ...calibration, load: [], peak: {} };
  assertStrictEquals(
    speedOfLight(nothing, { bytes: 1, flops: 1, type: "bf16" }),
    undefined,
  );
});
