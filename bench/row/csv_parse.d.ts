/** The types of `@std/csv/parse` that are used here; the npm copy of std has none. */

/**
 * The fields of each record of RFC 4180 text: a byte order mark is dropped, and lines may
 * end in CRLF.
 *
 * @throws {SyntaxError} Where a quote is open or misplaced.
 */
export function parse(input: string): string[][];
