/**
 * Every kernel at every shape of a suite, side by side.
 *
 * @module
 */

import type { Picture } from "./canvas/canvas.ts";
import type { Paper } from "./canvas/paper.ts";
import { drawCurves, hasLight, latencyRange } from "./parts/curves.ts";
import type { PlotData, Shape } from "./parts/data.ts";
import { fittingSize } from "./parts/fitting.ts";
import { frame } from "./parts/frame.ts";
import { sweepOf } from "./parts/groups.ts";
import { legend } from "./parts/legend.ts";
import { LIGHT } from "./parts/names.ts";
import { pageName, pagesOf } from "./parts/pages.ts";

/** Shapes and gaps on one picture. */
const PAGE = 72;

/** The overall comparison grid, on several pictures where there are many shapes. */
export function overview(data: PlotData): readonly Picture[] | string {
  const { axis, groups } = sweepOf(data);
  const range = latencyRange(data, data.shapes);
  if (range === undefined) return "no case has a time";
  const pages = pagesOf(groups, PAGE, ({ shapes }) => shapes.length + 1);
  return pages.map((own, page) => {
    // A category between groups, where curves end and a line stands.
    const shapes = own.flatMap((group, i): (Shape | undefined)[] => [
      ...(i > 0 ? [undefined] : []),
      ...group.shapes,
    ]);
    const { name, part } = pageName("overview", page, pages.length);
    return {
      name,
      width: Math.min(2400, Math.max(1000, 120 + 44 * shapes.length)),
      height: 680,
      draw(paper: Paper) {
        const box = frame(paper, data, {
          title: `Overall comparison${part}`,
          note:
            "Median latency of each kernel at each shape, with quartiles; lower is better. A cross above the axis: no time",
        });
        const { x, y, width } = box;
        const light = hasLight(data) ? { light: LIGHT } : {};
        const head = legend(paper, data, { x, y, width, ...light }) + 26;
        const inner = { ...box, y: y + head, height: box.height - head };
        drawCurves(paper, data, {
          box: inner,
          shapes,
          range,
          labelOf: (shape) => `${shape[axis]}`,
          axisTitle: axis.toUpperCase(),
          valueTitle: "latency (µs)",
          names: false,
          turn: shapes.length > 12 ? 60 : 0,
          over: (chart) => {
            const { left, right, top, bottom } = chart.chartArea;
            const step = (right - left) / shapes.length;
            let at = 0;
            for (const { label, shapes: inside } of own) {
              const [from, to] = [
                left + at * step,
                left + (at + inside.length) * step,
              ];
              caption(paper, label, { from, to, y: top - 12 });
              at += inside.length + 1;
              if (at > shapes.length) break;
              const line = left + (at - 0.5) * step;
              paper.line([[line, top - 18], [line, bottom]]);
            }
          },
        });
      },
    };
  });
}

function caption(
  paper: Paper,
  label: string,
  { from, to, y }: { from: number; to: number; y: number },
): void {
  const style = { size: 13, bold: true } as const;
  paper.text(label, [(from + to) / 2, y], {
    ...style,
    size: fittingSize(paper, label, { ...style, room: to - from + 20 }),
    align: "center",
  });
}
