/**
 * The typeface of pictures.
 *
 * @module
 */

/** What the typeface is called in pictures: a name that no installed one has. */
export const FAMILY = "mnkbench-sans";
