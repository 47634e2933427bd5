/**
 * A panel for each N, all on one scale: where a kernel starts to win as outputs grow.
 *
 * @module
 */

import type { Picture } from "./canvas/canvas.ts";
import type { Paper } from "./canvas/paper.ts";
import { drawCurves, hasLight, latencyRange } from "./parts/curves.ts";
import type { PlotData } from "./parts/data.ts";
import { frame, FRAME_HEIGHT } from "./parts/frame.ts";
import { type Group, sweepOf } from "./parts/groups.ts";
import { legend } from "./parts/legend.ts";
import { LIGHT } from "./parts/names.ts";
import { pageName, pagesOf } from "./parts/pages.ts";

const MOST_ACROSS = 4;
/** Panels on one picture. */
const PAGE = 24;
const HEIGHT = 330;
const CAPTION = 22;
const GAP = 16;

type Panel = Pick<Group, "label" | "shapes">;

/** The panels: one for each N and each other group of shapes that has that N. */
export function panels(data: PlotData): readonly Picture[] | string {
  const range = latencyRange(data, data.shapes);
  if (range === undefined) return "no case has a time";
  if (new Set(data.shapes.map(({ n }) => n)).size < 2) return "there is one N";
  const sweep = sweepOf(data);
  // Where curves run along N itself, a panel has all of M that go with an N.
  const { axis, groups } = sweep.axis === "n"
    ? { axis: "m" as const, groups: byN(data) }
    : sweep;
  const ordered = groups.toSorted((a, b) => a.shapes[0]!.n - b.shapes[0]!.n);
  const pages = pagesOf<Panel>(ordered, PAGE);
  return pages.map((own, page) => {
    const { name, part } = pageName("panels", page, pages.length);
    const across = Math.min(MOST_ACROSS, own.length);
    const down = Math.ceil(own.length / across);
    return {
      name,
      width: Math.max(1000, 24 * 2 + across * 340),
      height: FRAME_HEIGHT + 60 + down * HEIGHT,
      draw(paper: Paper) {
        const box = frame(paper, data, {
          title: `Latency by N${part}`,
          note:
            "Median of each kernel, all panels on one scale; lower is better. A cross above the axis: no time",
        });
        const { x, y, width } = box;
        const light = hasLight(data) ? { light: LIGHT } : {};
        const head = legend(paper, data, { x, y, width, ...light }) + 10;
        const panel = {
          width: (width - GAP * (across - 1)) / across,
          height: (box.height - head) / down,
        };
        for (const [i, { label, shapes }] of own.entries()) {
          const left = x + (i % across) * (panel.width + GAP);
          const top = y + head + Math.floor(i / across) * panel.height;
          paper.text(label, [left + panel.width / 2, top + CAPTION / 2], {
            size: 13,
            bold: true,
            align: "center",
          });
          drawCurves(paper, data, {
            box: {
              x: left,
              y: top + CAPTION,
              width: panel.width,
              height: panel.height - CAPTION - 8,
            },
            shapes,
            range,
            labelOf: (shape) => `${shape[axis]}`,
            axisTitle: axis.toUpperCase(),
            valueTitle: i % across === 0 ? "latency (µs)" : "",
            names: false,
            turn: shapes.length > 5 ? 60 : 0,
          });
        }
      },
    };
  });
}

function byN({ shapes }: PlotData): Panel[] {
  const groups = Map.groupBy(
    shapes,
    ({ n, k, extra }) => JSON.stringify([n, k, extra]),
  );
  return [...groups.values()].map((group) => {
    const { n, k, extra } = group[0]!;
    const label = `N=${n} K=${k} ${extra}`.trim();
    return { label, shapes: group.toSorted((a, b) => a.m - b.m) };
  });
}
