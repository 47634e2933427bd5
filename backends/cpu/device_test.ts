import { deepEqual, equal, throws } from "node:assert/strict";
import { CaseError } from "../../bench/model/errors.ts";
import { cpu } from "./cpu.ts";

const info = cpu.find().devices[0]!;

function oom(bytes: number): (error: unknown) => boolean {
  return (error) =>
    error instanceof CaseError && error.failure === "oom" &&
    error.message.includes(`${bytes} bytes`) && !error.message.includes("\n");
}

Deno.test("alloc() aligns to 64 bytes", () => {
  using device = cpu.open(info);
  for (const bytes of [0, 1, 63, 64, 1000, 1 << 20]) {
    using memory = device.alloc(bytes);
    equal(memory.address % 64n, 0n, `${bytes}`);
    equal(memory.bytes, bytes);
    equal(memory.host?.length, bytes);
  }
});

Deno.test("alloc() fails with oom", () => {
  using device = cpu.open(info);
  throws(() => device.alloc(2 ** 50), oom(2 ** 50));
});

Deno.test("alloc() fails with oom for more than the machine has free", () => {
  using device = cpu.open(info);
  const bytes = 2 * Deno.systemMemoryInfo().total;
  throws(() => device.alloc(bytes), oom(bytes));
});

Deno.test("slice() shares the bytes, download() copies them", () => {
  using device = cpu.open(info);
  using memory = device.alloc(8);
  memory.upload(Uint8Array.of(0, 1, 2, 3, 4, 5, 6, 7));
  const part = memory.slice(2, 4);
  equal(part.address, memory.address + 2n);
  const before = part.download();
  part.fill(9);
  deepEqual([...memory.download()], [0, 1, 9, 9, 9, 9, 6, 7]);
  deepEqual([...before], [2, 3, 4, 5]);
  throws(() => memory.slice(6, 4), RangeError);
  part[Symbol.dispose]();
  equal(memory.host?.length, 8);
});

Deno.test("dispose frees the memory at once, and may be repeated", () => {
  using device = cpu.open(info);
  const memory = device.alloc(1 << 20);
  memory[Symbol.dispose]();
  memory[Symbol.dispose]();
  equal(memory.host?.length, 0);
});
