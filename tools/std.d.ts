/**
 * Types of the parts of Deno's standard library that are used here. The npm copy of it
 * (deno-std) has none; from JSR the packages bring their own and this file goes.
 * tools/packages_test.ts compares the names with what the packages export.
 */

declare module "@std/assert" {
  type Class<T> = abstract new (...args: never[]) => T;

  export function assert(expr: unknown, msg?: string): asserts expr;
  export function assertEquals<T>(actual: T, expected: T, msg?: string): void;
  export function assertNotEquals<T>(
    actual: T,
    expected: T,
    msg?: string,
  ): void;
  export function assertStrictEquals<T>(
    actual: unknown,
    expected: T,
    msg?: string,
  ): asserts actual is T;
  export function assertNotStrictEquals<T>(
    actual: T,
    expected: T,
    msg?: string,
  ): void;
  export function assertAlmostEquals(
    actual: number,
    expected: number,
    tolerance?: number,
    msg?: string,
  ): void;
  export function assertMatch(
    actual: string,
    expected: RegExp,
    msg?: string,
  ): void;
  export function assertNotMatch(
    actual: string,
    expected: RegExp,
    msg?: string,
  ): void;
  export function assertThrows(fn: () => unknown, msg?: string): unknown;
  export function assertThrows<E extends Error = Error>(
    fn: () => unknown,
    ErrorClass: Class<E>,
    msgIncludes?: string,
    msg?: string,
  ): E;
  export function assertRejects(
    fn: () => PromiseLike<unknown>,
    msg?: string,
  ): Promise<unknown>;
  export function assertRejects<E extends Error = Error>(
    fn: () => PromiseLike<unknown>,
    ErrorClass: Class<E>,
    msgIncludes?: string,
    msg?: string,
  ): Promise<E>;
}

declare module "@std/csv" {
  /** @throws {SyntaxError} Where a quote is open or misplaced. */
  export function parse(input: string): string[][];
  /** RFC 4180 text; lines end in CRLF. */
  export function stringify(
    data: readonly (readonly unknown[])[],
    options?: { readonly headers?: boolean },
  ): string;
}

declare module "@std/yaml" {
  export function parse(content: string): unknown;
}
