/**
 * How this program ends where an error has no caller that could catch it.
 *
 * @module
 */

let end: ((message: string) => never) | undefined;

/** Has `ender` end the program, with the message that it is given. To be called once. */
export function onFatal(ender: (message: string) => never): void {
  end = ender;
}

/** What {@linkcode onFatal} was given; nothing in a program that uses this as a library. */
export function fatalHandler(): ((message: string) => never) | undefined {
  return end;
}
