/**
 * The colours of charts, except those of kernels, and arithmetic with colours. All are
 * `#rrggbb`.
 *
 * @module
 */

/** The name of a theme. */
export type ThemeName = "light" | "dark";

/** The colours of everything but kernels. */
export interface Theme {
  readonly name: ThemeName;
  readonly paper: string;
  readonly ink: string;
  /** Small print. */
  readonly dim: string;
  readonly grid: string;
  /** Axes and separators. */
  readonly rule: string;
  /** A cell without a time. */
  readonly void: string;
  /** Ends of the scale of speed-ups. */
  readonly slower: string;
  readonly faster: string;
}

/** Every theme. */
export const THEMES: Readonly<Record<ThemeName, Theme>> = {
  light: {
    name: "light",
    paper: "#ffffff",
    ink: "#1a1d21",
    dim: "#5a626c",
    grid: "#e6e8eb",
    rule: "#a9b0b8",
    void: "#f1f2f4",
    slower: "#d55e00",
    faster: "#0072b2",
  },
  dark: {
    name: "dark",
    paper: "#14181d",
    ink: "#e9edf2",
    dim: "#a3adb9",
    grid: "#2a3038",
    rule: "#5b6570",
    void: "#1f252c",
    slower: "#e0701a",
    faster: "#3d94d9",
  },
};

/** Returns the colour `share` of the way from `from` to `to`. */
export function mixed(from: string, to: string, share: number): string {
  const [a, b] = [channels(from), channels(to)];
  const mix = a.map((value, i) => Math.round(value + (b[i]! - value) * share));
  return `#${mix.map((v) => v.toString(16).padStart(2, "0")).join("")}`;
}

/** Mixes `color` with the ink's: letters and other thin strokes are hard to see in a pale colour. */
export function inkOf(color: string, theme: Pick<Theme, "ink">): string {
  return mixed(color, theme.ink, 0.3);
}

/** Returns black or white, whichever has more contrast on `background` (WCAG's relative luminance). */
export function inkOn(background: string): string {
  const [r, g, b] = channels(background).map((value) => {
    const c = value / 255;
    return c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4;
  });
  const luminance = 0.2126 * r! + 0.7152 * g! + 0.0722 * b!;
  return luminance > 0.179 ? "#000000" : "#ffffff";
}

function channels(color: string): number[] {
  return [1, 3, 5].map((at) => parseInt(color.slice(at, at + 2), 16));
}
