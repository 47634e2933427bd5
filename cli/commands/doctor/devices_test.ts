import { assertAlmostEquals, assertEquals } from "@std/assert";
import { DEFAULTS } from "../../../bench/model/settings.ts";
import { temporary } from "../../../bench/testdata/temporary.ts";
import { select } from "../../../session/select.ts";
import { compared, formatComparison, measureDevices } from "./devices.ts";

const timed = (
  index: number,
  alone: readonly number[],
  together: readonly number[],
) => {
  const named = (times: readonly number[]) =>
    new Map(times.map((us, i) => [`case ${i}`, us]));
  const info = { index, uuid: `GPU-${index}` };
  return { info, alone: named(alone), together: named(together) };
};

Deno.test("compared() sets devices against their mean, and together against alone", () => {
  const comparison = compared([
    timed(0, [10, 20, 5], [10.1, 20, 5]),
    timed(1, [10.2, 20.4], [10.2, 21.624]),
  ]);
  // Device 1 has no third case.
  assertEquals(comparison.cases, 2);
  assertAlmostEquals(comparison.devices[0]!.alone, 1 / Math.sqrt(1.02));
  assertAlmostEquals(comparison.devices[1]!.alone, Math.sqrt(1.02));
  assertAlmostEquals(comparison.devices[1]!.together, Math.sqrt(1.06));
  assertEquals(formatComparison(comparison), [
    "device  alone vs mean  together vs alone  UUID",
    "0              -1.0 %             +0.5 %  GPU-0",
    "1              +1.0 %             +3.0 %  GPU-1",
    "PASS between devices, each alone: at most +2.0 % (case 0)",
    "WARN together against alone: at most +6.0 % (case 1 on device 1)",
    "Geometric means over 2 cases of matmul-bf16, each measured 2 times",
  ]);
});

Deno.test("measureDevices() measures every case alone and together on each device", async () => {
  using folder = temporary();
  const selected = await select({
    suites: ["matmul-bf16"],
    kernels: ["naive"],
    where: {},
    quick: true,
    overrides: { m: [2], n: [2], k: [8] },
    backend: "cpu",
    device: 0,
  });
  const { info } = selected;
  const found = await measureDevices(
    // Two workers on the same CPU.
    { ...selected, infos: [info, { ...info, uuid: "other" }] },
    { ...DEFAULTS, warmup: 0, rep: 1, cacheDir: folder.path },
    { signal: new AbortController().signal, passes: 1 },
  );
  assertEquals(found.map(({ info }) => info.uuid), [info.uuid, "other"]);
  for (const { alone, together } of found) {
    for (const medians of [alone, together]) {
      assertEquals([...medians.keys()], ["naive 2×2×8"]);
    }
  }
});
