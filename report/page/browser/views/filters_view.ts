/// <reference lib="dom" />
/**
 * Draws the bar of choices: baseline, filters and kernels.
 *
 * @module
 */

import { isFailed } from "../book.ts";
import { byId, type Child, el, refill, select } from "../dom.ts";
import { parseShape } from "../filter.ts";
import { INITIAL } from "../state.ts";
import { count } from "../text.ts";
import { colorOf, distinct, type View } from "./view.ts";

/** Milliseconds without a key after which a typed filter is used. */
const PAUSE = 150;

/** Draws the bar. */
export function drawFilters(view: View): void {
  const { book: { entries }, state } = view;
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
  const verdicts = distinct(entries, ({ verdict }) => verdict)
    .filter((verdict) => verdict !== "");
  refill(
    byId("filters"),
    el(
      "div",
      { class: "fields" },
      baselineChoice(view),
      choice(
        "suite",
        "Suite",
        all("suites", distinct(entries, (e) => e.suite)),
      ),
      choice(
        "device",
        "Device",
        all("devices", distinct(entries, (e) => e.device)),
      ),
      shapeField(view),
      choice("status", "Outcome", statuses(view)),
      choice("verdict", "Verdict", all("verdicts", verdicts)),
      el(
        "button",
        {
          type: "button",
          id: "filter-reset",
          on: { click: () => view.update(INITIAL) },
        },
        "Reset",
      ),
    ),
    kernelChoice(view),
  );
  drawShown(view);
}

/** Draws the number of rows that the filters let through. */
export function drawShown({ book: { entries }, shown }: View): void {
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

function shapeField(view: View): Child {
  const { state } = view;
  let pause: ReturnType<typeof setTimeout> | undefined;
  const wrong = el("output", { id: "shape-wrong", class: "mistake" });
  const complain = () => {
    const parsed = parseShape(box.value);
    wrong.textContent = "wrong" in parsed ? parsed.wrong : "";
    box.setAttribute("aria-invalid", `${"wrong" in parsed}`);
    return "wrong" in parsed;
  };
  const box = el("input", {
    id: "filter-shape",
    type: "search",
    value: state.shape,
    placeholder: "16x16x*  k>=16384",
    spellcheck: "false",
    autocomplete: "off",
    "aria-describedby": "shape-help shape-wrong",
    on: {
      input: () => {
        clearTimeout(pause);
        if (complain()) return;
        pause = setTimeout(
          () => view.update({ shape: box.value.trim(), page: 0 }),
          PAUSE,
        );
      },
    },
  });
  complain();
  return el(
    "div",
    { class: "field" },
    el("label", { for: "filter-shape" }, "Shape"),
    box,
    el(
      "span",
      { id: "shape-help", class: "unseen" },
      "Sizes such as 16x16x*, conditions on axes such as k>=16384 or m=16|32, or part of a shape’s name, separated by blanks",
    ),
    wrong,
  );
}

function kernelChoice(view: View): Child {
  const { book, state } = view;
  const toggle = (name: string, on: boolean) =>
    view.update({
      hidden: on
        ? state.hidden.filter((hidden) => hidden !== name)
        : [...state.hidden, name],
      page: 0,
    });
  const only = book.kernels.length > 1;
  return el(
    "fieldset",
    { class: "kernels" },
    el("legend", {}, "Kernels"),
    book.kernels.map((name, i) => {
      const box = el("input", {
        type: "checkbox",
        id: `kernel-${i}`,
        checked: !state.hidden.includes(name),
        on: { change: () => toggle(name, box.checked) },
      });
      return el(
        "label",
        { class: "chip", vars: { "--color": colorOf(view, name) } },
        box,
        el("span", { class: "swatch", "aria-hidden": "true" }),
        name,
      );
    }),
    only
      ? el(
        "button",
        {
          type: "button",
          id: "kernels-all",
          class: "quiet",
          on: {
            click: () =>
              view.update({
                hidden: state.hidden.length > 0 ? [] : book.kernels,
                page: 0,
              }),
          },
        },
        state.hidden.length > 0 ? "Show all" : "Hide all",
      )
      : undefined,
  );
}
