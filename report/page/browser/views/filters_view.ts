/// <reference lib="dom" />
/**
 * Draws the bar of choices: baseline, filters and kernels.
 *
 * @module
 */

import { html } from "lit-html";
import { live } from "lit-html/directives/live.js";
import { isFailed } from "../book.ts";
import { byId, type Child, fill, select } from "../dom.ts";
import { INITIAL, parseShape } from "../state.ts";
import { count } from "../text.ts";
import { distinct, swatch, type View } from "./view.ts";

/** Milliseconds without a key after which a typed filter is used. */
const PAUSE = 150;

/** Draws the bar, and the number of rows that the filters let through. */
export function drawFilters(view: View): void {
  const { book: { entries }, state, shown } = view;
  const all = (name: string, values: readonly string[]) => [
    ["", `All ${name}`] as const,
    ...values.map((value) => [value, value] as const),
  ];
  const choice = (
    field: "suite" | "device" | "status" | "verdict",
    label: string,
    options: readonly (readonly [string, string])[],
  ): Child =>
    options.length > 2
      ? select(
        { id: `filter-${field}`, label, value: state[field] },
        options,
        (value) => view.update({ [field]: value, page: 0 }),
      )
      : undefined;
  const suites = distinct(entries, ({ suite }) => suite);
  const devices = distinct(entries, ({ device }) => device);
  const verdicts = distinct(entries, ({ verdict }) => verdict)
    .filter((verdict) => verdict !== "");
  const reset = () => view.update(INITIAL);
  fill(
    "filters",
    html`
      <div class="fields">
        ${baselineChoice(view)}
        ${choice("suite", "Suite", all("suites", suites))}
        ${choice("device", "Device", all("devices", devices))}
        ${shapeField(view)}
        ${choice("status", "Outcome", statuses(view))}
        ${choice("verdict", "Verdict", all("verdicts", verdicts))}
        <button type="button" id="filter-reset" @click=${reset}>Reset</button>
      </div>
      ${kernelChoice(view)}
    `,
  );
  byId("shown").textContent = shown.length === entries.length
    ? `All ${count(shown.length, "row")}`
    : `${count(shown.length, "row")} of ${entries.length.toLocaleString("en")}`;
}

function baselineChoice(view: View): Child {
  const { book, state } = view;
  const pivots = distinct(book.entries, ({ pivot }) => pivot);
  const own = [...new Set(pivots.map(view.baseline))]
    .filter((name) => name !== undefined).join(", ");
  const chosen = state.baseline === "" && own !== "" ? ` (${own})` : "";
  return select(
    { id: "baseline", label: "Baseline", value: state.baseline },
    [
      ["", `Suite’s own${chosen}`],
      ...book.kernels.map((name) => [name, name] as const),
    ],
    (baseline) => view.update({ baseline }),
  );
}

function statuses({ book: { entries } }: View): (readonly [string, string])[] {
  const own = distinct(entries, ({ status }) => status);
  return [
    ["", "All outcomes"],
    ...(entries.some(isFailed) ? [["failed", "any failure"] as const] : []),
    ...(entries.some((e) => e.suspect)
      ? [["suspect", "suspect"] as const]
      : []),
    ...own.map((status) => [status, status] as const),
  ];
}

let pause: ReturnType<typeof setTimeout> | undefined;

function shapeField(view: View): Child {
  const complaint = (text: string) => {
    const parsed = parseShape(text);
    return "wrong" in parsed ? parsed.wrong : "";
  };
  const wrong = complaint(view.state.shape);
  const input = ({ target }: Event) => {
    const box = target as HTMLInputElement;
    const wrong = complaint(box.value);
    byId("shape-wrong").textContent = wrong;
    box.ariaInvalid = `${wrong !== ""}`;
    clearTimeout(pause);
    if (wrong !== "") return;
    const shape = box.value;
    pause = setTimeout(() => view.update({ shape, page: 0 }), PAUSE);
  };
  return html`
    <div class="field">
      <label for="filter-shape">Shape</label>
      <input id="filter-shape" type="search" .value=${live(view.state.shape)}
        placeholder="16x16x*  k&gt;=16384" spellcheck="false"
        autocomplete="off" aria-describedby="shape-help shape-wrong"
        .ariaInvalid=${live(`${wrong !== ""}`)} @input=${input}>
      <span id="shape-help" class="unseen">Sizes such as 16x16x*, conditions on
        axes such as k&gt;=16384 or m=16|32, or part of a shape’s name,
        separated by blanks</span>
      <output id="shape-wrong" class="mistake" .textContent=${live(
        wrong,
      )}></output>
    </div>
  `;
}

function kernelChoice(view: View): Child {
  const { book, state: { hidden } } = view;
  const chip = (name: string, i: number) => {
    const toggle = () =>
      view.update({
        hidden: hidden.includes(name)
          ? hidden.filter((other) => other !== name)
          : [...hidden, name],
        page: 0,
      });
    return html`
      <label class="chip">
        <input type="checkbox" id="kernel-${i}" @change=${toggle}
          .checked=${!hidden.includes(name)}>
        ${swatch(view, name)}${name}
      </label>
    `;
  };
  const toggleAll = () =>
    view.update({ hidden: hidden.length > 0 ? [] : book.kernels, page: 0 });
  const all = html`
    <button type="button" id="kernels-all" class="quiet" @click=${toggleAll}>
      ${hidden.length > 0 ? "Show all" : "Hide all"}
    </button>
  `;
  return html`
    <fieldset class="kernels">
      <legend>Kernels</legend>
      ${book.kernels.map(chip)}
      ${book.kernels.length > 1 ? all : undefined}
    </fieldset>
  `;
}
