/**
 * What pictures are drawn on and in, kernels apart.
 *
 * @module
 */

/** The name of a theme. */
export type ThemeName = "light" | "dark";

/** What everything but kernels is drawn in: CSS colours. */
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
