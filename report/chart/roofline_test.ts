import { assert } from "@std/assert";
import { CALIBRATION, plotRows } from "../testdata/plot_rows.ts";
import { chartData } from "./data.ts";
import { roofline } from "./roofline.ts";
import { openStudio } from "./studio.ts";

Deno.test("roofline() draws what it has: peaks, a load curve, both or neither", async () => {
  const studio = await openStudio();
  const drawn = new Set<string>();
  for (const load of [CALIBRATION.load, CALIBRATION.load.slice(0, 1), []]) {
    for (const peak of [CALIBRATION.peak, {}]) {
      const data = chartData(plotRows(), {
        theme: "light",
        calibration: { ...CALIBRATION, load, peak },
      });
      const pictures = roofline(data);
      assert(typeof pictures !== "string");
      const svg = studio.svg(pictures[0]!, "light");
      assert(!/NaN|Infinity/.test(svg));
      drawn.add(svg);
    }
  }
  assert(drawn.size >= 5, `${drawn.size}`);
});
