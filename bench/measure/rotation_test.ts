import { assertEquals, assertStrictEquals } from "@std/assert";
import type { Operand } from "../model/problem.ts";
import { type Rotated, rotationOf } from "./rotation.ts";

const context: Rotated = {
  settings: { timer: "do_bench", cache: "cold", checkOnly: false, once: false },
  device: { info: { flushBytes: 1 << 20 } },
  options: { backend: { rotates: true } },
};
const operand = (rows: number, role: Operand["role"]): Operand => ({
  ...{ name: "x", role, type: "f32", rows, cols: 256, ld: 256 },
});
const problem = (rows: number) => ({
  operands: [operand(rows, "in"), operand(rows, "in"), operand(999, "out")],
});

Deno.test("rotationOf() has as many sets as displace one", () => {
  // Inputs of 200 KiB: five others are a flush of 1 MiB, with one that is in use.
  assertEquals(rotationOf(context, problem(100)), {
    sets: 7,
    bytes: 6 * 204800,
    enough: true,
  });
  // One that is larger than the cache displaces itself, but for what is used last.
  assertStrictEquals(rotationOf(context, problem(1000))!.sets, 2);
});

Deno.test("rotationOf() says where the most sets are not enough", () => {
  assertEquals(rotationOf(context, problem(1)), {
    sets: 256,
    bytes: 255 * 2048,
    enough: false,
  });
});

Deno.test("rotationOf() is for cold samples of backends that ask for it", () => {
  const others: Rotated[] = [
    { ...context, settings: { ...context.settings, cache: "warm" } },
    { ...context, settings: { ...context.settings, timer: "batch:4" } },
    { ...context, settings: { ...context.settings, checkOnly: true } },
    { ...context, settings: { ...context.settings, once: true } },
    { ...context, options: { backend: {} } },
  ];
  for (const other of others) {
    assertStrictEquals(rotationOf(other, problem(100)), undefined);
  }
});
