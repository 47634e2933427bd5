import { ok } from "node:assert/strict";
import { openStudio } from "./canvas/canvas.ts";
import { CALIBRATION, plotRows } from "../testdata/plot_rows.ts";
import { plotData } from "./parts/data.ts";
import { roofline } from "./roofline.ts";

Deno.test("roofline() draws what it has: peaks, a load curve, both or neither", async () => {
  const studio = await openStudio();
  const drawn = new Set<string>();
  for (const load of [CALIBRATION.load, CALIBRATION.load.slice(0, 1), []]) {
    for (const peak of [CALIBRATION.peak, {}]) {
      const data = plotData(plotRows(), {
        theme: "light",
        calibration: { ...CALIBRATION, load, peak },
      });
      const pictures = roofline(data);
      ok(typeof pictures !== "string");
      const svg = studio.svg(pictures[0]!, "light");
      ok(!/NaN|Infinity/.test(svg));
      drawn.add(svg);
    }
  }
  ok(drawn.size >= 5, `${drawn.size}`);
});
