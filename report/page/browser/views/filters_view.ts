/// <reference lib="dom" />
/**
 * Draws the bar of choices: baseline, filters and kernels.
 *
 * @module
 */

import { html } from "lit-html";
import { live } from "lit-html/directives/live.js";
import { type Entry, isFailed, isTimed } from "../book.ts";
import { byId, type Child, fill, select } from "../dom.ts";
import { filtered, INITIAL, parseShape } from "../state.ts";
import { count } from "../text.ts";
import { distinct, swatch, type View } from "./view.ts";

/** Kernels that are listed at once; more are folded away. */
const FEW = 6;
/** Milliseconds without a key after which a typed filter is used. */
const PAUSE = 150;

/** Draws the bar, and the number of rows that the filters let through. */
export function drawFilters(view: View): void {
  const { book: { entries }, state, shown } = view;
  const all = (
    name: string,
    field: "suite" | "device" | "verdict",
  ) => [
    ["", `All ${name}`] as const,
    ...valuesOf(view, field).map((value) => [value, value] as const),
  ];
  const choice = (
    field: "suite" | "device" | "status" | "verdict",
    label: string,
    options: readonly (readonly [string, string])[],
  ): Child =>
    options.length > 2 || state[field] !== ""
      ? select(
        { id: `filter-${field}`, label, value: state[field] },
        options,
        (value) => view.update({ [field]: value, page: 0 }),
      )
      : undefined;
  const reset = () => view.update(INITIAL);
  fill(
    "filters",
    html`
      <div class="fields">
        ${baselineChoice(view)}
        ${choice("suite", "Suite", all("suites", "suite"))}
        ${choice("device", "Device", all("devices", "device"))}
        ${shapeField(view)}
        ${choice("status", "Outcome", statuses(view))}
        ${choice("verdict", "Verdict", all("verdicts", "verdict"))}
        <button type="button" id="filter-reset" @click=${reset}>Reset</button>
      </div>
      ${kernelChoice(view)}
    `,
  );
  byId("shown").textContent = shown.length === entries.length
    ? `All ${count(shown.length, "row")}`
    : `${count(shown.length, "row")} of ${entries.length.toLocaleString("en")}`;
}

/** Returns the entries that the other filters let through: choices that are there. */
function thereFor(
  { book: { entries }, state }: View,
  field: "suite" | "device" | "status" | "verdict" | "hidden",
): Entry[] {
  return filtered(entries, { ...state, [field]: INITIAL[field] });
}

/** Returns the values of a filter that are there, and the one that is chosen. */
function valuesOf(
  view: View,
  field: "suite" | "device" | "verdict",
): string[] {
  const { book: { entries }, state } = view;
  const there = new Set(thereFor(view, field).map((entry) => entry[field]));
  return distinct(entries, (entry) => entry[field]).filter((value) =>
    value !== "" && (there.has(value) || value === state[field])
  );
}

function baselineChoice(view: View): Child {
  const { book, state } = view;
  const { suite, device } = state;
  const there = filtered(book.entries, { ...INITIAL, suite, device });
  const timed = new Set(there.filter(isTimed).map(({ kernel }) => kernel));
  const kernels = book.kernels.filter((name) =>
    timed.has(name) || name === state.baseline
  );
  if (kernels.length < 2 && state.baseline === "") return undefined;
  const pivots = distinct(there, ({ pivot }) => pivot);
  const own = [...new Set(pivots.map(view.baseline))]
    .filter((name) => name !== undefined).join(", ");
  const chosen = state.baseline === "" && own !== "" ? ` (${own})` : "";
  return select(
    { id: "baseline", label: "Baseline", value: state.baseline },
    [
      ["", `Suite’s own${chosen}`],
      ...kernels.map((name) => [name, name] as const),
    ],
    (baseline) => view.update({ baseline }),
  );
}

function statuses(view: View): (readonly [string, string])[] {
  const entries = thereFor(view, "status");
  const { status } = view.state;
  const own = distinct(entries, (entry) => entry.status);
  return [
    ["", "All outcomes"],
    ...(status === "failed" || entries.some(isFailed)
      ? [["failed", "any failure"] as const]
      : []),
    ...(status === "suspect" || entries.some((e) => e.suspect)
      ? [["suspect", "suspect"] as const]
      : []),
    ...own.map((name) => [name, name] as const),
    ...["", "failed", "suspect", ...own].includes(status)
      ? []
      : [[status, status] as const],
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
  if (book.kernels.length < 2) return undefined;
  const there = new Set(thereFor(view, "hidden").map(({ kernel }) => kernel));
  const kernels = book.kernels.filter((name) => there.has(name));
  const chip = (name: string) => {
    const i = book.kernels.indexOf(name);
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
  const chips = html`
    <fieldset class="kernels">
      <legend class="unseen">Kernels</legend>
      ${kernels.map(chip)}
      ${all}
    </fieldset>
  `;
  const on = kernels.filter((name) => !hidden.includes(name)).length;
  // Many would fill a phone's screen before the first figure.
  return html`
    <details class="choice" ?open=${book.kernels.length <= FEW}>
      <summary>Kernels: ${on === kernels.length ? "all" : `${on} of`}
        ${kernels.length}</summary>
      ${chips}
    </details>
  `;
}
