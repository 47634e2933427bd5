/**
 * Messages to Objective-C objects: `objc_msgSend` under one alias for each signature.
 *
 * Objects, selectors and addresses are u64. What a method named `new…`, `alloc`, `init…` or
 * `copy…` returns is the caller's to release; anything else belongs to a pool.
 *
 * @module
 */

import { cstring, textAt } from "../shared/ffi.ts";

/** `MTLSize` and `NSRange`, by value. */
const SIZE = { struct: ["u64", "u64", "u64"] } as const;
const RANGE = { struct: ["u64", "u64"] } as const;

/** `objc_msgSend` to an object with a selector and `parameters`. */
function send<
  const P extends readonly Deno.NativeType[],
  const R extends Deno.NativeResultType,
>(parameters: P, result: R) {
  return {
    name: "objc_msgSend",
    parameters: ["u64", "u64", ...parameters],
    result,
  } as const;
}

// On ARM a message must be sent with the very signature of its method.
const RUNTIME = {
  objc_getClass: { parameters: ["buffer"], result: "u64" },
  sel_registerName: { parameters: ["buffer"], result: "u64" },
  objc_autoreleasePoolPush: { parameters: [], result: "u64" },
  objc_autoreleasePoolPop: { parameters: ["u64"], result: "void" },
  send0: send([], "u64"),
  send1: send(["u64"], "u64"),
  send2: send(["u64", "u64"], "u64"),
  send3: send(["u64", "u64", "u64"], "u64"),
  send4: send(["u64", "u64", "u64", "u64"], "u64"),
  /** BOOL f(u64) */
  flag: send(["u64"], "u8"),
  /** CFTimeInterval f(void) */
  seconds: send([], "f64"),
  /** id f(const void *) */
  text: send(["buffer"], "u64"),
  /** void f(const void *, NSUInteger, NSUInteger) */
  bytes: send(["buffer", "u64", "u64"], "void"),
  /** id f(id, NSError **) */
  make1: send(["u64", "buffer"], "u64"),
  /** id f(id, id, NSError **); compiling takes long: on another thread. */
  make2: { ...send(["u64", "u64", "buffer"], "u64"), nonblocking: true },
  make2Now: send(["u64", "u64", "buffer"], "u64"),
  /** void f(id, NSRange, uint8_t) */
  fill: send(["u64", RANGE, "u8"], "void"),
  /** void f(id, NSUInteger, id, NSUInteger, NSUInteger) */
  copy: send(["u64", "u64", "u64", "u64", "u64"], "void"),
  /** id f(NSUInteger, NSUInteger, NSUInteger, MPSDataType) */
  descriptor: send(["u64", "u64", "u64", "u32"], "u64"),
  /** id f(id, BOOL, BOOL, NSUInteger, NSUInteger, NSUInteger, double, double) */
  product: send(["u64", "u8", "u8", "u64", "u64", "u64", "f64", "f64"], "u64"),
  /** void f(MTLSize, MTLSize) */
  sizes: send([SIZE, SIZE], "void"),
} as const satisfies Deno.ForeignLibraryInterface;

/** An object that is released with its scope. */
export interface Owned extends Disposable {
  readonly object: bigint;
}

/** An opened Objective-C runtime. */
export class Objc {
  /** `objc_msgSend` by signature; the first two parameters are object and selector. */
  readonly calls: Deno.StaticForeignLibraryInterface<typeof RUNTIME>;
  readonly #selectors = new Map<string, bigint>();

  /** @throws {Error} Where there is no such library. */
  constructor(path: string) {
    this.calls = Deno.dlopen(path, RUNTIME).symbols;
  }

  /** The selector of that name. */
  sel(name: string): bigint {
    let selector = this.#selectors.get(name);
    if (selector === undefined) {
      selector = this.calls.sel_registerName(cstring(name));
      this.#selectors.set(name, selector);
    }
    return selector;
  }

  /** @throws {Error} Where there is no such class. */
  class(name: string): bigint {
    const found = this.calls.objc_getClass(cstring(name));
    if (found === 0n) throw new Error(`no class ${name}`);
    return found;
  }

  /** Sends a message of words alone, three at most. */
  send(to: bigint, selector: string, ...words: readonly bigint[]): bigint {
    const sel = this.sel(selector);
    const [a, b, c] = words;
    if (a === undefined) return this.calls.send0(to, sel);
    if (b === undefined) return this.calls.send1(to, sel, a);
    if (c === undefined) return this.calls.send2(to, sel, a, b);
    return this.calls.send3(to, sel, a, b, c);
  }

  /** Asks what answers yes or no. */
  asks(to: bigint, selector: string, word: bigint): boolean {
    return this.calls.flag(to, this.sel(selector), word) !== 0;
  }

  /** Returns whether the object has a method of that name. */
  has(object: bigint, method: string): boolean {
    return this.asks(object, "respondsToSelector:", this.sel(method));
  }

  /** The text of an `NSString` that a method returns; empty for nil. */
  textOf(to: bigint, selector: string): string {
    using _pool = this.pool();
    return textAt(this.send(this.send(to, selector), "UTF8String"));
  }

  /** Makes an `NSString`. */
  string(text: string): Owned {
    const empty = this.send(this.class("NSString"), "alloc");
    const sel = this.sel("initWithUTF8String:");
    return this.own(this.calls.text(empty, sel, cstring(text)));
  }

  /** Takes over one reference to `object`. */
  own(object: bigint): Owned {
    return { object, [Symbol.dispose]: () => this.release(object) };
  }

  /** Opens a pool; what methods leave to it is released with its scope. */
  pool(): Disposable {
    const mark = this.calls.objc_autoreleasePoolPush();
    return {
      [Symbol.dispose]: () => this.calls.objc_autoreleasePoolPop(mark),
    };
  }

  /** Gives one reference back. */
  release(object: bigint): void {
    this.send(object, "release");
  }
}
