/// <reference lib="dom" />
/**
 * Makes the elements that several parts of the page have. Text only ever goes in as text, so
 * that no data is read as HTML.
 *
 * @module
 */

import { html, nothing, render, type TemplateResult } from "lit-html";
import { Paper } from "../../chart/paper.ts";
import { type ThemeName, THEMES } from "../../chart/theme.ts";

/** The content of an element; `undefined` is left out. */
export type Child =
  | TemplateResult
  | Node
  | string
  | undefined
  | readonly Child[];

/** Returns the element that the page must have. */
export function byId(id: string): HTMLElement {
  const element = document.getElementById(id);
  if (element === null) throw new Error(`Cannot find #${id} in the page`);
  return element;
}

/** Draws `content` as that of the element `id`; what is the same there stays. */
export function fill(id: string, content: Child): void {
  render(content, byId(id));
}

/** Makes a choice with a label. */
export function select(
  { id, label, value }: {
    readonly id: string;
    readonly label: string;
    readonly value: string;
  },
  options: readonly (readonly [value: string, text: string])[],
  choose: (value: string) => void,
): Child {
  const change = ({ target }: Event) =>
    choose((target as HTMLSelectElement).value);
  return html`
    <div class="field">
      <label for=${id}>${label}</label>
      <select id=${id} @change=${change}>
        ${options.map(([own, text]) =>
          html`<option value=${own} .selected=${own === value}>${text}</option>`
        )}
      </select>
    </div>
  `;
}

/** Makes a table that scrolls by itself, also with the keyboard. */
export function scroller(label: string, table: TemplateResult): Child {
  return html`
    <div class="scroll" tabindex="0" role="region" aria-label=${label}>
      ${table}
    </div>
  `;
}

/** Returns `text` for an attribute that is left out where it is empty. */
export function ifAny(text: string | undefined): string | typeof nothing {
  return text || nothing;
}

/** A canvas to be made. Lengths are CSS pixels. */
interface CanvasOptions {
  readonly width: number;
  readonly height: number;
  readonly theme: ThemeName;
  /** The text for those who do not see it; empty where text beside it says the same. */
  readonly label: string;
}

/** Makes a canvas for the drawing code of files. @returns It, and what `draw` returns. */
export function drawn<T>(
  { width, height, theme, label }: CanvasOptions,
  draw: (paper: Paper) => T,
): { readonly canvas: HTMLCanvasElement; readonly found: T } {
  const scale = devicePixelRatio;
  const canvas = document.createElement("canvas");
  canvas.width = Math.round(width * scale);
  canvas.height = Math.round(height * scale);
  canvas.style.width = `${width}px`;
  canvas.style.height = `${height}px`;
  canvas.role = "img";
  canvas.ariaLabel = label;
  canvas.ariaHidden = `${label === ""}`;
  const pen = canvas.getContext("2d");
  if (pen === null) throw new Error("Cannot draw: there is no 2D canvas");
  const family = getComputedStyle(document.documentElement).fontFamily;
  const options = { width, height, scale, family, theme: THEMES[theme] };
  // The same interface but for what only files have.
  const paper = new Paper(pen as never, options);
  return { canvas, found: draw(paper) };
}
