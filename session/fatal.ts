/**
 * Ends the program on errors that no caller can catch.
 *
 * @module
 */

let end: ((message: string) => never) | undefined;
let isDone = false;

/** Has `ender` end the program, with the message that it is given. To be called once. */
export function onFatal(ender: (message: string) => never): void {
  end = ender;
}

/** What {@linkcode onFatal} was given; nothing in a program that uses this as a library. */
export function fatalHandler(): ((message: string) => never) | undefined {
  return end;
}

/** Says that the program has done what it was asked for, and may exit. */
export function done(): void {
  isDone = true;
}

/** Whether {@linkcode done} was called. */
export function mayExit(): boolean {
  return isDone;
}
