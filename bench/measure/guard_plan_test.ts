import { assert } from "@std/assert";
import { planSeries } from "./guard_plan.ts";
import { seeded } from "../../backends/testdata/spine.ts";
import type { Operand } from "../model/problem.ts";

/** Plans a series of `count` samples of a kernel with two inputs of 64 x 64. */
function planned(count: number, isWarm: boolean) {
  const inputs = ["A", "B"].map((name) => {
    const operand: Operand = {
      name,
      role: "in",
      type: "f32",
      rows: 64,
      cols: 64,
      ld: 64,
    };
    const bytes = new Uint8Array(4 * 64 * 64).map((_, i) => 7 * i + 1);
    const read = (offset: number, bytesOf: number) =>
      bytes.slice(offset, offset + bytesOf);
    return { operand, read };
  });
  return planSeries({
    count,
    inputs: [inputs],
    most: 64,
    gain: 8,
    below: seeded(count),
    used: () => [0],
    mayChange: () => true,
    hasOriginal: true,
    isWarm,
    isLate: false,
  });
}

Deno.test("planSeries() keeps outputs of samples right after changes", () => {
  for (const count of [100, 400, 2000]) {
    const { changes, again, kept } = planned(count, true);
    const after = [...changes.keys()].filter((at) => !again.has(at));
    // The last sample, and one whose outputs were right before, take two places.
    const left = after.filter((at) => !kept.includes(at));
    assert(left.length <= 2, `${left} of ${after} in ${count}`);
    assert(kept.length >= 24 && kept.includes(count - 1), `${count}`);
  }
});

Deno.test("planSeries() has new whole inputs before most samples where samples are few", () => {
  for (const count of [8, 10, 15, 20, 23]) {
    const { changes } = planned(count, false);
    const whole = [...changes].slice(0, -1).filter(([, sets]) =>
      [...sets.values()].flat().every(({ kind }) => kind === "turn")
    );
    assert(whole.length > count / 2 - 1, `${whole.length} of ${count}`);
  }
});
