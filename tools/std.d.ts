/**
 * Types of the parts of Deno's standard library that are used here. The npm copy of it
 * (deno-std) has none; from JSR the packages bring their own and this file goes.
 * tools/std_types_test.ts compares the names with what the packages export.
 */

declare module "@std/assert" {
  type Class<T> = abstract new (...args: never[]) => T;

  export class AssertionError extends Error {}
  export function assert(expr: unknown, msg?: string): asserts expr;
  export function assertFalse(expr: unknown, msg?: string): asserts expr is
    | 0
    | ""
    | false
    | null
    | undefined;
  export function assertExists<T>(
    actual: T,
    msg?: string,
  ): asserts actual is NonNullable<T>;
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
  export function assertGreater<T>(actual: T, expected: T, msg?: string): void;
  export function assertGreaterOrEqual<T>(
    actual: T,
    expected: T,
    msg?: string,
  ): void;
  export function assertLess<T>(actual: T, expected: T, msg?: string): void;
  export function assertLessOrEqual<T>(
    actual: T,
    expected: T,
    msg?: string,
  ): void;
  export function assertArrayIncludes<T>(
    actual: ArrayLike<T>,
    expected: ArrayLike<T>,
    msg?: string,
  ): void;
  export function assertStringIncludes(
    actual: string,
    expected: string,
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
  export function assertObjectMatch(
    actual: object,
    expected: object,
    msg?: string,
  ): void;
  export function assertInstanceOf<T>(
    actual: unknown,
    expectedType: Class<T>,
    msg?: string,
  ): asserts actual is T;
  export function assertIsError<E extends Error = Error>(
    error: unknown,
    ErrorClass?: Class<E>,
    msgMatches?: string | RegExp,
    msg?: string,
  ): asserts error is E;
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
  export function equal(a: unknown, b: unknown): boolean;
  export function fail(msg?: string): never;
  export function unreachable(reason?: string): never;
}

declare module "@std/csv" {
  /** @throws {SyntaxError} Where a quote is open or misplaced. */
  export function parse(input: string): string[][];
  /** RFC 4180 text; lines end in CRLF. */
  export function stringify(
    data: readonly (readonly unknown[])[],
    options?: { readonly headers?: boolean },
  ): string;
  /** Records of RFC 4180 text; a stream of them fails with a SyntaxError. */
  export class CsvParseStream implements TransformStream<string, string[]> {
    constructor();
    readonly readable: ReadableStream<string[]>;
    readonly writable: WritableStream<string>;
  }
  /** Lines of RFC 4180 text, which end in CRLF. */
  export class CsvStringifyStream extends TransformStream<string[], string> {
    constructor();
  }
}
