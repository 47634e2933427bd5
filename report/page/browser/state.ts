/**
 * Keeps the choices of the page in the part of its address behind `#`, so that a view can be
 * sent to somebody.
 *
 * @module
 */

/** Every choice. Empty texts mean all, or what the page prefers. */
export interface State {
  readonly suite: string;
  readonly device: string;
  readonly shape: string;
  /** A status of the CSV, `failed` or `suspect`. */
  readonly status: string;
  readonly verdict: string;
  /** Kernels that are not shown. */
  readonly hidden: readonly string[];
  readonly baseline: string;
  readonly view: "pivot" | "rows";
  /** The column that the table is sorted by, in the way of the view. */
  readonly sort: string;
  readonly descending: boolean;
  readonly page: number;
  /** The suite and device that charts are of. */
  readonly family: string;
  readonly log: boolean;
}

/** The state of a page that was just opened. */
export const INITIAL: State = {
  suite: "",
  device: "",
  shape: "",
  status: "",
  verdict: "",
  hidden: [],
  baseline: "",
  view: "pivot",
  sort: "",
  descending: false,
  page: 0,
  family: "",
  log: false,
};

/** Returns `state` as text: what differs from {@linkcode INITIAL}. */
export function formatState(state: State): string {
  const params = new URLSearchParams();
  for (const name of Object.keys(INITIAL) as (keyof State)[]) {
    const value = state[name];
    if (Array.isArray(value)) {
      for (const part of value) params.append(name, part);
    } else if (value !== INITIAL[name]) params.set(name, `${value}`);
  }
  return params.toString();
}

/** Returns the state in `text`; what it does not say is as in {@linkcode INITIAL}. */
export function parseState(text: string): State {
  const params = new URLSearchParams(text);
  const read = (name: keyof State): State[keyof State] => {
    const initial = INITIAL[name];
    if (Array.isArray(initial)) return params.getAll(name);
    const word = params.get(name) ?? "";
    if (typeof initial === "boolean") return word === "true";
    if (typeof initial === "number") return /^\d{1,9}$/.test(word) ? +word : 0;
    return name === "view" && word !== "rows" ? "pivot" : word;
  };
  const names = Object.keys(INITIAL) as (keyof State)[];
  const entries = names.map((name) => [name, read(name)] as const);
  return Object.fromEntries(entries) as object as State;
}
