/**
 * A colour and a mark for each kernel, and a cross where there is no time.
 *
 * The first vivid colours are those of Okabe and Ito (2008), which people with the usual kinds
 * of colour blindness tell apart; libraries and other kernels to compare with are greys with a
 * tint. Marks differ too, for print in grey.
 *
 * @module
 */

import { drawPoint, type DrawPointOptions } from "chart.js/helpers";
import type { LineStyle, Paper, Place } from "./paper.ts";
import { mixed, type ThemeName, THEMES } from "./theme.ts";

/** The shape of a point. A cross is not among them, because it marks a case without a time. */
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
export interface KernelStyle {
  readonly color: string;
  readonly mark: Mark;
  /** The width of its curve, CSS pixels. */
  readonly width: number;
}

type Slot = Readonly<Record<ThemeName, string>>;

/** Colours and marks of kernels of one kind. */
interface Palette {
  readonly slots: readonly Slot[];
  readonly marks: readonly Mark[];
  readonly width: number;
  /** The first slot that belongs to no kernel of {@linkcode KNOWN}. */
  readonly free: number;
}

/** The palette of our kernels and the user's: vivid colours, filled marks. */
const OWN: Palette = {
  slots: [
    { light: "#d55e00", dark: "#ee7a22" }, // vermillion
    { light: "#e69f00", dark: "#f2b632" }, // orange
    { light: "#0072b2", dark: "#3d94d9" }, // blue
    { light: "#56b4e9", dark: "#8fd0f7" }, // sky blue
    { light: "#4b36b0", dark: "#8d7be8" }, // indigo
    { light: "#009e73", dark: "#1fb88b" }, // bluish green
    { light: "#c2297f", dark: "#e86fb4" }, // magenta
    { light: "#882255", dark: "#c8528c" }, // wine
    { light: "#5a7a1c", dark: "#a5c84f" }, // moss
    { light: "#8c6239", dark: "#bd8f63" }, // brown
    { light: "#1f7f91", dark: "#4fc4d6" }, // petrol
    { light: "#8e44ad", dark: "#c07be0" }, // purple
    { light: "#c1121f", dark: "#ff6b6b" }, // red
    { light: "#a39a00", dark: "#f0e442" }, // yellow
    { light: "#3fa535", dark: "#7fdc6f" }, // lime
  ],
  marks: ["circle", "rect", "triangle", "rectRot", "triangleDown", "bar"],
  width: 2.2,
  free: 10,
};

/** The palette of libraries, frameworks and simple kernels: muted colours, hollow marks. */
const PEER: Palette = {
  slots: [
    { light: "#3d434c", dark: "#d5dae1" }, // ink
    { light: "#8a8f98", dark: "#8a929e" }, // grey
    { light: "#6b7f94", dark: "#9fb4c9" }, // blue grey
    { light: "#93858f", dark: "#b7a7b3" }, // mauve
    { light: "#7d8f80", dark: "#a3b8a6" }, // green grey
    { light: "#a3937c", dark: "#c4b49c" }, // sand
    { light: "#5f7f80", dark: "#8fb5b5" }, // teal grey
    { light: "#9a8aa8", dark: "#bcaccb" }, // lavender
    { light: "#a87f74", dark: "#cda598" }, // clay
    { light: "#b0a05f", dark: "#cfc08a" }, // khaki
    { light: "#6d6a7a", dark: "#a19eb0" }, // slate
    { light: "#b0b4ba", dark: "#6f7784" }, // light grey
    { light: "#7a6a55", dark: "#b09c82" }, // umber
    { light: "#8aa0b5", dark: "#7c93aa" }, // steel
    { light: "#a0a890", dark: "#9aa38a" }, // sage
    { light: "#57695d", dark: "#c3d2c6" }, // pine
    { light: "#b295a0", dark: "#8d7480" }, // rose grey
  ],
  marks: [
    ...["ring", "rectHollow", "triangleHollow"] as const,
    ...["rectRotHollow", "triangleDownHollow"] as const,
  ],
  width: 1.3,
  free: 14,
};

/**
 * The look of a kernel: its palette, its slot there, and a shift from the slot's mark to a later
 * one.
 */
type Assigned = readonly [palette: Palette, slot: number, marksOn?: number];

/**
 * Gives the groups slots from 0 on. A group names kernels that are never in one picture together, which
 * share a slot.
 */
function inOrder(
  palette: Palette,
  groups: readonly string[],
): [string, Assigned][] {
  return groups.flatMap((group, slot) =>
    group.split(" ").map((
      name,
      i,
    ): [string, Assigned] => [name, [palette, slot, i]])
  );
}

/**
 * Kernels that always have the same colour. The kernels of a line share one: they are of different
 * ops or vendors, or published figures of the same kind.
 */
const KNOWN: ReadonlyMap<string, Assigned> = new Map([
  ...inOrder(OWN, [
    "decompose-k-tile qmm persistent",
    "decompose-k-tile-unfused qmm_t",
    "decompose-k qmv cluster fused",
    "decompose-k-unfused qvm dequant",
    "decompose-k-pdl qvm_split_k grouped",
    "exchange-k qmm-splitk best",
    "cluster-k qmm-wgmma blackwell splitk-lds",
    "wgmma-k qmm_t_splitk splitk-lds-atomic",
    "dot qmm_n",
    "wgmma columns-k",
  ]),
  ...inOrder(PEER, [
    "cublas hipblas mps",
    "cublaslt hipblaslt mlx",
    "cublaslt-tuned hipblaslt-tuned",
    "bmm-sum dense per-group dequant-cublas",
    "torch-eager torch.mm torch.mm+relu",
    "torch-compiled compiled-torch.mm compiled-torch.mm+relu",
    "torch-custom-op-mm custom-op-mm custom-op-mm+relu",
    "torch-custom-op-mm-relu torch-grouped-mm torch-merged",
    "triton-decompose-k decomposeK decomposeK-fused-relu decomposeK+relu",
    "triton-decompose-k-tile TLX-decomposeK TLX-decomposeK-fused-relu TLX-decomposeK+relu",
    "torch-dynamic",
    "naive",
    "torch-int4pack openblas product",
    "blocked",
  ]),
]);

/** Matches kernels of libraries and frameworks by how their names begin. */
const LIBRARY =
  /^(torch|triton|cublas|hipblas|rocblas|miopen|cutlass|mps|mlx|openblas|mkl|onednn)/i;

/**
 * Returns the look of each of `kernels`. The colour of a kernel of {@linkcode KNOWN} is fixed. The
 * colour of another kernel follows from a hash of its name; if it is taken, the next free one is used.
 * Libraries and frameworks have muted colours, all others vivid ones. No two kernels of an op have one
 * colour, and no other kernel has that of a known one.
 *
 * @param kernels Names of contenders. For several pictures, give all of them at once, so that each
 * kernel has the same look in every picture.
 *
 * @example
 * ```ts
 * import { paletteOf } from "./palette.ts";
 * import { deepStrictEqual } from "node:assert/strict";
 *
 * const looks = paletteOf(["cublas", "mine"], "light");
 * deepStrictEqual(looks.get("cublas"), { color: "#3d434c", mark: "ring", width: 1.3 });
 * ```
 */
export function paletteOf(
  kernels: readonly string[],
  theme: ThemeName,
): ReadonlyMap<string, KernelStyle> {
  const looks = new Map<string, KernelStyle>();
  const taken = new Map<Palette, Set<number>>([
    [OWN, new Set()],
    [PEER, new Set()],
  ]);
  // Sorted by name, so that the looks do not depend on the order of rows.
  const groups = [
    ...Map.groupBy([...new Set(kernels)].toSorted(), kernelOf),
  ].toSorted(([a], [b]) => a < b ? -1 : 1);
  for (const [kernel, names] of groups) {
    const [palette, first, on = 0] = KNOWN.get(kernel) ??
      freeSlot(kernel, taken);
    // The same kernel on other backends or from other runs has other shades of its colour.
    for (const [round, name] of names.entries()) {
      const slot = first + round * palette.slots.length;
      taken.get(palette)!.add(slot);
      looks.set(name, lookOf([palette, slot, on], theme));
    }
  }
  return looks;
}

/** Returns the kernel of a contender, without its backend and run. */
function kernelOf(name: string): string {
  return name.replace(/ \([^()]*\)$|@[^@]*$/, "");
}

function freeSlot(
  name: string,
  all: ReadonlyMap<Palette, ReadonlySet<number>>,
): Assigned {
  const palette = LIBRARY.test(name) ? PEER : OWN;
  const { free, slots: { length } } = palette;
  const taken = all.get(palette)!;
  const start = hash(name);
  // Round 0 has the colours as they are, each further round has other shades of all of them.
  for (let round = 0;; round++) {
    const [first, count] = round === 0
      ? [free, length - free]
      : [round * length, length];
    for (let i = 0; i < count; i++) {
      const slot = first + (start + i) % count;
      if (!taken.has(slot)) return [palette, slot];
    }
  }
}

function lookOf(
  [{ slots, marks, width }, slot, on = 0]: Assigned,
  theme: ThemeName,
): KernelStyle {
  const round = Math.floor(slot / slots.length);
  const { ink, paper } = THEMES[theme];
  const own = slots[slot % slots.length]![theme];
  // Odd rounds are mixed with the paper's colour, even ones with the ink's.
  const color = round === 0
    ? own
    : mixed(own, round % 2 ? paper : ink, 0.5 * round / (round + 1));
  return { color, mark: marks[(slot + round + on) % marks.length]!, width };
}

/** Returns the FNV-1a hash of the UTF-16 code units of `name`. */
function hash(name: string): number {
  let h = 0x811c9dc5;
  for (let i = 0; i < name.length; i++) {
    h = Math.imul(h ^ name.charCodeAt(i), 0x01000193) >>> 0;
  }
  return h;
}

/** How chart.js draws each mark: its shape, a factor of the radius, and degrees of rotation. */
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
  { mark, color, size = 4 }: Pick<KernelStyle, "mark" | "color"> & {
    readonly size?: number;
  },
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

/** Draws a cross around a place: the mark of a case without a time. */
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
