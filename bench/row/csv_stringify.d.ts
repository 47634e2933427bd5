/** The types of `@std/csv/stringify` that are used here; the npm copy of std has none. */

/** RFC 4180 text of `records`, with CRLF ends. */
export function stringify(records: readonly (readonly string[])[]): string;
