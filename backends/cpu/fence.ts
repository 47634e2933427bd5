/**
 * Host memory between pages that nothing may touch.
 *
 * @module
 */

import type { Fence } from "../../bench/device/device.ts";
import { CaseError } from "../../bench/model/errors.ts";
import type { Memory } from "../../bench/device/queue.ts";

/** Functions of fence.h. */
const FENCE = {
  fence_begin: { parameters: [], result: "void" },
  fence_end: { parameters: [], result: "void" },
  fence_alloc: { parameters: ["i64"], result: "pointer" },
  fence_free: { parameters: ["pointer"], result: "void" },
  fence_seal: { parameters: ["pointer"], result: "void" },
  fence_seen: { parameters: ["pointer", "buffer"], result: "i32" },
} as const satisfies Deno.ForeignLibraryInterface;

const WRITTEN = 2;

/**
 * Opens a fence by the instruments in the file `binary`; nothing where they have none.
 *
 * @param memoryAt Returns memory of `bytes` at `data` that it does not own.
 */
export function openFence(
  binary: string,
  memoryAt: (data: Deno.PointerObject, bytes: number) => Memory,
): Fence | undefined {
  if (Deno.build.os !== "linux") return undefined;
  const library = Deno.dlopen(binary, FENCE);
  const call = library.symbols;
  using scope = new DisposableStack();
  scope.defer(() => library.close());
  call.fence_begin();
  scope.defer(() => call.fence_end());
  const owned = scope.move();
  return {
    alloc(bytes) {
      const data = call.fence_alloc(BigInt(bytes));
      if (data === null) {
        throw new CaseError("oom", `Cannot map ${bytes} bytes between pages`);
      }
      owned.defer(() => call.fence_free(data));
      return memoryAt(data, bytes);
    },
    seal: (memory) => call.fence_seal(pointerOf(memory)),
    seen(memory) {
      const at = new BigInt64Array(1);
      const how = call.fence_seen(pointerOf(memory), at);
      if (how === 0) return undefined;
      const verb = how === WRITTEN ? "written" : "touched";
      return place(verb, Number(at[0]), memory.bytes);
    },
    [Symbol.dispose]: () => owned.dispose(),
  };
}

/** Returns where `memory` is, for a foreign function. */
export function pointerOf({ address }: Memory): Deno.PointerValue {
  return Deno.UnsafePointer.create(address);
}

/** An access `at` bytes after the start of memory of `bytes`. */
function place(verb: string, at: number, bytes: number): string {
  if (at < 0) return `was ${verb} ${-at} bytes before its start`;
  if (at === bytes) return `was ${verb} right past its end`;
  return at < bytes
    ? `is an input, and was written to at byte ${at}`
    : `was ${verb} ${at - bytes} bytes past its end`;
}
