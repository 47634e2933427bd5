import { assertEquals, assertMatch } from "@std/assert";
import { timedRow } from "../testdata/rows.ts";
import { A, C, names, tell } from "../testdata/supervised.ts";

Deno.test("supervise() takes an event torn by its writer's end for a crash", async () => {
  const told = await tell("torn");
  assertEquals(told.rows, [
    A,
    "b crash: The worker exited with code 0",
    `${C}BM=16`,
  ]);
  assertMatch(told.printed, /^[0-9a-f-]{36}\{"event":"row","row":\{"key$/);
});

Deno.test("supervise() tells what kernels print from events", async () => {
  const told = await tell("garbage");
  assertEquals(told.rows, [A, "b ok: ", `${C}undefined`]);
  assertEquals(told.printed, "printed  by a\nkernel");
});

Deno.test("supervise() takes print-outs without end or line feed", async () => {
  const told = await tell("flood");
  assertEquals(told.rows, [A, "b ok: ", `${C}undefined`]);
  const [printed, notice, end] = told.printed.split("\n");
  assertEquals(printed, "x".repeat(1 << 16));
  assertEquals(
    notice,
    "(the worker printed more than 65536 characters: the rest is left out)",
  );
  assertEquals(end, "");
});

Deno.test("supervise() gives a crash row for a result that cannot be read", async () => {
  const told = await tell("broken");
  assertEquals(told.rows, [
    A,
    "b crash: The worker went on without a result that can be read",
    `${C}undefined`,
  ]);
  assertMatch(
    told.printed,
    /^[0-9a-f-]{36}\{"event":"row","row":\{"k#### oops\n####\n$/,
  );
});

Deno.test("supervise() takes no record that a kernel printed", async () => {
  const told = await tell("forged");
  assertEquals(told.rows, [A, "b ok: ", `${C}undefined`]);
  assertEquals(names(told).filter((name) => name === "row").length, 3);
  assertMatch(told.printed, /^\{"event":"row".*\n0\{"event":"restart"\}\n$/);
});

Deno.test("supervise() gives a crash row for a result that is malformed", async () => {
  assertEquals((await tell("malformed")).rows, [
    A,
    "b crash: The worker went on without a result that can be read",
    `${C}undefined`,
  ]);
});

Deno.test("supervise() hands on errors that are no finite numbers", async () => {
  const { events } = await tell("nan");
  const [, b] = events.filter((event) => event.event === "row");
  assertEquals("accuracy" in b!.row && b!.row.accuracy, {
    ...timedRow("b").accuracy,
    max_abs_err: NaN,
    max_rel_err: Infinity,
  });
});

Deno.test("supervise() gives the error of a worker, not its stack", async () => {
  assertEquals((await tell("throw")).rows, [
    A,
    "b crash: The worker exited with code 1 (error: Uncaught Error: no luck)",
    `${C}BM=16`,
  ]);
});
