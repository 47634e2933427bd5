/**
 * Messages to Objective-C objects: `objc_msgSend` under one alias for each signature.
 *
 * Objects, selectors and addresses are u64. What a method named `new…`, `alloc`, `init…` or
 * `copy…` returns is the caller's to release; anything else belongs to a pool.
 *
 * @module
 */

import { type Bytes, cstring, textAt } from "../shared/ffi.ts";

/** `MTLSize` and `NSRange`, by value. */
const SIZE = { struct: ["u64", "u64", "u64"] } as const;
const RANGE = { struct: ["u64", "u64"] } as const;

const SEND = "objc_msgSend";
const RUNTIME = {
  objc_getClass: { parameters: ["buffer"], result: "u64" },
  sel_registerName: { parameters: ["buffer"], result: "u64" },
  objc_autoreleasePoolPush: { parameters: [], result: "u64" },
  objc_autoreleasePoolPop: { parameters: ["u64"], result: "void" },
  // On ARM a message must be sent with the very signature of its method.
  send0: { name: SEND, parameters: ["u64", "u64"], result: "u64" },
  send1: { name: SEND, parameters: ["u64", "u64", "u64"], result: "u64" },
  send2: {
    name: SEND,
    parameters: ["u64", "u64", "u64", "u64"],
    result: "u64",
  },
  send3: {
    name: SEND,
    parameters: ["u64", "u64", "u64", "u64", "u64"],
    result: "u64",
  },
  /** BOOL f(u64) */
  flag: { name: SEND, parameters: ["u64", "u64", "u64"], result: "u8" },
  /** CFTimeInterval f(void) */
  seconds: { name: SEND, parameters: ["u64", "u64"], result: "f64" },
  /** id f(const void *) */
  text: { name: SEND, parameters: ["u64", "u64", "buffer"], result: "u64" },
  /** void f(const void *, NSUInteger, NSUInteger) */
  bytes: {
    name: SEND,
    parameters: ["u64", "u64", "buffer", "u64", "u64"],
    result: "void",
  },
  /** id f(id, NSError **) */
  make1: {
    name: SEND,
    parameters: ["u64", "u64", "u64", "buffer"],
    result: "u64",
  },
  /** id f(id, id, NSError **); compiling takes long: on another thread. */
  make2: {
    name: SEND,
    parameters: ["u64", "u64", "u64", "u64", "buffer"],
    result: "u64",
    nonblocking: true,
  },
  make2Now: {
    name: SEND,
    parameters: ["u64", "u64", "u64", "u64", "buffer"],
    result: "u64",
  },
  /** void f(id, NSRange, uint8_t) */
  fill: {
    name: SEND,
    parameters: ["u64", "u64", "u64", RANGE, "u8"],
    result: "void",
  },
  /** void f(MTLSize, MTLSize) */
  sizes: { name: SEND, parameters: ["u64", "u64", SIZE, SIZE], result: "void" },
} as const satisfies Deno.ForeignLibraryInterface;

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
    return this.pool(() =>
      textAt(this.send(this.send(to, selector), "UTF8String"))
    );
  }

  /** Runs `work` with an `NSString`. */
  withString<T>(text: string, work: (string: bigint) => T): T {
    return this.#with(this.#string(cstring(text)), work);
  }

  /** As {@linkcode withString}, for as long as a promise takes. */
  async withStringAsync<T>(
    text: string,
    work: (string: bigint) => Promise<T>,
  ): Promise<T> {
    const string = this.#string(cstring(text));
    try {
      return await work(string);
    } finally {
      this.release(string);
    }
  }

  #string(text: Bytes): bigint {
    const empty = this.send(this.class("NSString"), "alloc");
    return this.calls.text(empty, this.sel("initWithUTF8String:"), text);
  }

  #with<T>(object: bigint, work: (object: bigint) => T): T {
    try {
      return work(object);
    } finally {
      this.release(object);
    }
  }

  /** Runs `work`, then releases what methods left to the pool. */
  pool<T>(work: () => T): T {
    const mark = this.calls.objc_autoreleasePoolPush();
    try {
      return work();
    } finally {
      this.calls.objc_autoreleasePoolPop(mark);
    }
  }

  /** Gives one reference back. */
  release(object: bigint): void {
    this.send(object, "release");
  }
}
