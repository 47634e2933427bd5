/**
 * What the page is given: rows by column, packed so that ten thousand of them travel in a
 * few megabytes.
 *
 * @module
 */

/** One value in all rows, few values by number, or a value a row. */
export type EncodedColumn =
  | { readonly one: string }
  | { readonly words: readonly string[]; readonly at: readonly number[] }
  | { readonly cells: readonly (string | number)[] };

/**
 * Nanoseconds of a row: the first as it is, the others as differences from the one before;
 * 0 where there are none.
 */
export type EncodedSeries = readonly number[] | 0;

/** The rows of one run. */
export interface EncodedRun {
  /** What the run is called beside the other. */
  readonly label: string;
  readonly rows: number;
  /** By the names of the CSV; columns without any value are left out. */
  readonly columns: Readonly<Record<string, EncodedColumn>>;
  /** Quantiles from least to greatest, evenly spread. */
  readonly quantiles?: readonly EncodedSeries[];
  /** Every sample in the order in which they were taken. */
  readonly samples?: readonly EncodedSeries[];
}

/** Rows of the two runs that are the same case, and what became of it. */
export interface EncodedPairs {
  /** Indices of rows; -1 where the run has none. */
  readonly now: readonly number[];
  readonly base: readonly number[];
  readonly verdict: EncodedColumn;
  /** Why, and the likely cause; empty for most. */
  readonly why: EncodedColumn;
}

/** How a kernel is drawn: a CSS variable for each theme's colour, and the shape of its points. */
export interface EncodedLook {
  readonly color: string;
  readonly mark: string;
}

/** Everything that the page shows. */
export interface PageData {
  readonly run: EncodedRun;
  readonly against?: EncodedRun;
  readonly pairs?: EncodedPairs;
  /** Kernels that speed-ups are relative to, the preferred first, by suite. */
  readonly baselines: Readonly<Record<string, readonly string[]>>;
  /** How kernels are drawn, by the name in the CSV. */
  readonly looks: Readonly<Record<string, EncodedLook>>;
  /** Columns in the order of the CSV, by what they say. */
  readonly groups: Readonly<Record<string, readonly string[]>>;
}
