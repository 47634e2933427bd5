/// <reference lib="dom" />
/**
 * Makes elements from values. Text only ever goes in as text, so that no data is read as HTML.
 *
 * @module
 */

/** The content of an element; `undefined` is left out. */
export type Child = Node | string | undefined | readonly Child[];

/** Attributes, listeners and style properties. A false or missing attribute is left out. */
export interface Props {
  readonly on?: Readonly<Record<string, (event: Event) => void>>;
  readonly vars?: Readonly<Record<string, string>>;
  readonly [attribute: string]:
    | string
    | number
    | boolean
    | undefined
    | Readonly<Record<string, string | ((event: Event) => void)>>;
}

/** Makes an HTML element. */
export function el<K extends keyof HTMLElementTagNameMap>(
  tag: K,
  props: Props = {},
  ...children: readonly Child[]
): HTMLElementTagNameMap[K] {
  return dressed(document.createElement(tag), props, children);
}

function dressed<E extends HTMLElement>(
  element: E,
  { on = {}, vars = {}, ...attributes }: Props,
  children: readonly Child[],
): E {
  for (const [name, value] of Object.entries(attributes)) {
    if (value === undefined || value === false) continue;
    element.setAttribute(name, value === true ? "" : `${value}`);
  }
  for (const [name, value] of Object.entries(vars)) {
    element.style.setProperty(name, value);
  }
  for (const [type, listener] of Object.entries(on)) {
    element.addEventListener(type, listener);
  }
  element.append(...flat(children));
  return element;
}

function flat(children: readonly Child[]): (Node | string)[] {
  return children.flatMap((child): (Node | string)[] =>
    child === undefined
      ? []
      : typeof child === "string" || child instanceof Node
      ? [child]
      : flat(child)
  );
}

/** Returns the element that the page must have. */
export function byId(id: string): HTMLElement {
  const element = document.getElementById(id);
  if (element === null) throw new Error(`Cannot find #${id} in the page`);
  return element;
}

/** Puts `children` into `parent`; what had the focus has it again if it has an id. */
export function refill(parent: HTMLElement, ...children: readonly Child[]) {
  const focused = document.activeElement;
  const id = focused && parent.contains(focused) ? focused.id : "";
  const left = parent.querySelector(".scroll")?.scrollLeft ?? 0;
  parent.replaceChildren(...flat(children));
  const scroll = parent.querySelector(".scroll");
  if (scroll) scroll.scrollLeft = left;
  if (id !== "") document.getElementById(id)?.focus({ preventScroll: true });
}

/** Makes a choice with a label. */
export function select(
  props: {
    readonly id: string;
    readonly label: string;
    readonly value: string;
  },
  options: readonly (readonly [value: string, text: string])[],
  choose: (value: string) => void,
): HTMLElement {
  const box = el(
    "select",
    { id: props.id, on: { change: () => choose(box.value) } },
    options.map(([value, text]) =>
      el("option", { value, selected: value === props.value }, text)
    ),
  );
  return el(
    "div",
    { class: "field" },
    el("label", { for: props.id }, props.label),
    box,
  );
}

/** Makes a table that scrolls by itself, also with the keyboard. */
export function scroller(label: string, table: HTMLElement): HTMLElement {
  return el(
    "div",
    { class: "scroll", tabindex: 0, role: "region", "aria-label": label },
    table,
  );
}
