/**
 * Words of a shell.
 *
 * @module
 */

/** `text` as one word of a shell. */
export function quoted(text: string): string {
  return /^[\w./@:=+-]+$/.test(text)
    ? text
    : `'${text.replaceAll("'", "'\\''")}'`;
}
