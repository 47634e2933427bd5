/**
 * A colour and a mark for each kernel, and a cross where there is no time.
 *
 * The colours are those of Okabe and Ito (2008) and, beyond them, of Tol's muted scheme,
 * which people with the usual kinds of colour blindness tell apart; yellow and black are
 * turned to what is seen on the paper of the theme. Marks differ too, for print in grey.
 *
 * @module
 */

import { drawPoint, type DrawPointOptions } from "chart.js/helpers";
import type { LineStyle, Paper, Place } from "./paper.ts";
import { mixed, type ThemeName, THEMES } from "./theme.ts";

/** The shape of a point. None is a cross: that says that there is no time. */
type Mark =
  | "circle"
  | "rect"
  | "triangle"
  | "rectRot"
  | "triangleDown"
  | "ring"
  | "rectHollow"
  | "triangleHollow"
  | "rectRotHollow"
  | "triangleDownHollow"
  | "bar";

/** The colour and the mark of a kernel. */
export interface Look {
  readonly color: string;
  readonly mark: Mark;
}

type Slot = Readonly<Record<ThemeName, string>>;

const SLOTS: readonly Slot[] = [
  { light: "#2b2f36", dark: "#f2f4f7" }, // black
  { light: "#c4679c", dark: "#dd93bb" }, // reddish purple
  { light: "#009e73", dark: "#1fb88b" }, // bluish green
  { light: "#d55e00", dark: "#ee7a22" }, // vermillion
  { light: "#e69f00", dark: "#f2b632" }, // orange
  { light: "#0072b2", dark: "#3d94d9" }, // blue
  { light: "#56b4e9", dark: "#8fd0f7" }, // sky blue
  { light: "#8a8f98", dark: "#8a929e" }, // grey
  { light: "#a39a00", dark: "#f0e442" }, // yellow
  { light: "#882255", dark: "#c8528c" }, // wine
  { light: "#332288", dark: "#8d7be8" }, // indigo
  { light: "#8c6239", dark: "#bd8f63" }, // brown
  { light: "#5a7a1c", dark: "#a5c84f" }, // moss
  { light: "#1f7f91", dark: "#4fc4d6" }, // petrol
];
/** As many as slots. Those that no known kernel has are of others alone. */
const MARKS: readonly Mark[] = [
  "circle",
  "rect",
  "triangle",
  "rectRot",
  "triangleDown",
  "ring",
  "circle",
  "rect",
  "triangle",
  "rectHollow",
  "triangleHollow",
  "rectRotHollow",
  "triangleDownHollow",
  "bar",
];

/**
 * Kernels whose slot is fixed, those of published figures like ours of the same kind. Those
 * of a family have neighbouring hues.
 */
const KNOWN: Readonly<Record<string, number>> = {
  cublas: 0,
  cublaslt: 1,
  "bmm-sum": 2,
  "decompose-k-tile": 3,
  "decompose-k-tile-unfused": 4,
  "decompose-k": 5,
  "decompose-k-unfused": 6,
  naive: 7,
  openblas: 8,
  "torch.mm": 0,
  "torch.mm+relu": 0,
  "custom-op-mm": 1,
  "custom-op-mm+relu": 1,
  "TLX-decomposeK": 3,
  "TLX-decomposeK-fused-relu": 3,
  "TLX-decomposeK+relu": 4,
  decomposeK: 5,
  "decomposeK-fused-relu": 5,
  "decomposeK+relu": 6,
  "compiled-torch.mm": 7,
  "compiled-torch.mm+relu": 7,
};

/** From here on slots are of no known kernel. */
const FREE = 1 + Math.max(...Object.values(KNOWN));

/**
 * Returns the look of each of `kernels`: known ones always the same, others by their name, next to
 * it where another kernel has that colour already. No two are drawn in one colour, and no
 * other in that of a known kernel, which may be in the picture beside this one.
 *
 * @example
 * ```ts
 * import { paletteOf } from "./palette.ts";
 * import { deepStrictEqual } from "node:assert/strict";
 *
 * const looks = paletteOf(["cublas", "mine"], "light");
 * deepStrictEqual(looks.get("cublas"), { color: "#2b2f36", mark: "circle" });
 * ```
 */
export function paletteOf(
  kernels: readonly string[],
  theme: ThemeName,
): ReadonlyMap<string, Look> {
  const slots = new Map<number, string>();
  const looks = new Map<string, Look>();
  // In the order of names, so that the order of rows changes nothing.
  const names = [...new Set(kernels)].toSorted();
  for (const name of names) {
    const slot = slotOf(name);
    if (slot !== undefined && !slots.has(slot)) slots.set(slot, name);
  }
  const taken = new Set(slots.values());
  const free = SLOTS.length - FREE;
  // If all of a round are taken, the next has every hue in other shades.
  let round = 0;
  for (const name of names.filter((name) => !taken.has(name))) {
    const start = hash(name);
    let slot: number | undefined;
    while (slot === undefined) {
      const [first, count] = round === 0
        ? [FREE, free]
        : [round * SLOTS.length, SLOTS.length];
      for (let i = 0; i < count && slot === undefined; i++) {
        const next = first + (start + i) % count;
        if (!slots.has(next)) slot = next;
      }
      if (slot === undefined) round++;
    }
    slots.set(slot, name);
  }
  for (const [slot, name] of slots) looks.set(name, lookOf(slot, theme));
  return looks;
}

function slotOf(name: string): number | undefined {
  return Object.hasOwn(KNOWN, name) ? KNOWN[name] : undefined;
}

function lookOf(slot: number, theme: ThemeName): Look {
  const round = Math.floor(slot / SLOTS.length);
  const { ink, paper } = THEMES[theme];
  const own = SLOTS[slot % SLOTS.length]![theme];
  // Odd rounds are nearer to the paper, even ones nearer to the ink.
  const color = round === 0
    ? own
    : mixed(own, round % 2 ? paper : ink, 0.5 * round / (round + 1));
  return { color, mark: MARKS[(slot + round) % MARKS.length]! };
}

/** FNV-1a of the name's UTF-16 units. */
function hash(name: string): number {
  let h = 0x811c9dc5;
  for (let i = 0; i < name.length; i++) {
    h = Math.imul(h ^ name.charCodeAt(i), 0x01000193) >>> 0;
  }
  return h;
}

/** chart.js's shape of a mark, how often its radius it has, and how far it is turned. */
const SHAPES: Readonly<
  Record<Mark, readonly [DrawPointOptions["pointStyle"], number, number?]>
> = {
  circle: ["circle", 1],
  ring: ["circle", 0.85],
  rect: ["rect", 1.25],
  rectHollow: ["rect", 1.1],
  triangle: ["triangle", 1.2],
  triangleHollow: ["triangle", 1.05],
  triangleDown: ["triangle", 1.2, 180],
  triangleDownHollow: ["triangle", 1.05, 180],
  rectRot: ["rectRot", 1.2],
  rectRotHollow: ["rectRot", 1.05],
  bar: ["line", 1.4],
};

/** A name in a legend, and how it is drawn. */
export interface LegendEntry extends LineStyle {
  readonly name: string;
  readonly color: string;
  /** @default {none} */
  readonly mark?: Mark;
}

/** Draws the mark of a kernel around a place; `size` is about its radius in CSS pixels. */
export function drawMark(
  { pen, theme }: Paper,
  [x, y]: Place,
  { mark, color, size = 4 }: Look & { readonly size?: number },
): void {
  const [pointStyle, reach, rotation = 0] = SHAPES[mark];
  const hollow = mark === "ring" || mark.endsWith("Hollow");
  pen.save();
  pen.fillStyle = hollow ? theme.paper : color;
  pen.strokeStyle = color;
  // The stroke of a hollow mark lies half outside.
  const borderWidth = mark === "bar" ? size : hollow ? size * 0.4 : 0;
  pen.lineWidth = borderWidth;
  const radius = reach * size;
  drawPoint(
    pen as never,
    { pointStyle, rotation, radius, borderWidth },
    x,
    y,
  );
  pen.restore();
}

/** Draws a cross around a place, which no kernel has for a mark: no time. */
export function drawCross(paper: Paper, [x, y]: Place, color: string): void {
  const reach = 3.2;
  for (const up of [-reach, reach]) {
    paper.line([[x - reach, y - up], [x + reach, y + up]], {
      color,
      width: 1.6,
    });
  }
}

/** Draws the stroke and the mark of a legend's entry from its left end on, 20 pixels wide. */
export function drawKey(
  paper: Paper,
  { mark, ...style }: LegendEntry,
  [x, y]: Place,
): void {
  paper.line([[x, y], [x + 20, y]], { width: 2, ...style });
  if (mark) drawMark(paper, [x + 10, y], { mark, color: style.color });
}
