/**
 * The files of the typeface, which comes with the program: pictures look the same wherever
 * they are made.
 *
 * @module
 */

import bold from "dejavu-fonts-ttf/ttf/DejaVuSansCondensed-Bold.ttf" with {
  type: "bytes",
};
import regular from "dejavu-fonts-ttf/ttf/DejaVuSansCondensed.ttf" with {
  type: "bytes",
};

/** TrueType files, by weight. */
export const FONTS: readonly Uint8Array[] = [regular, bold];
