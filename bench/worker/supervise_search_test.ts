import { assert, assertEquals, assertMatch } from "@std/assert";
import { isLoss } from "../tune/config_book.ts";
import { JOB } from "../testdata/jobs.ts";
import { keyFor, timedRow } from "../testdata/rows.ts";
import {
  A,
  C,
  names,
  Silence,
  tell,
  type Told,
} from "../testdata/supervised.ts";

/** `config status: note` of each config that was lost. */
const losses = ({ events }: Told) =>
  events.flatMap((e) =>
    e.event === "config" && isLoss(e)
      ? [`${e.key.kernel} ${e.config} ${e.status}: ${e.note}`]
      : []
  );

/** Milliseconds that a search for b had taken before the worker of its row. */
const spent = ({ events }: Told) =>
  events.flatMap((e) =>
    e.event === "row" && e.row.key.kernel === "b"
      ? [e.row.provenance.search_ms]
      : []
  );

Deno.test("supervise() loses no more of a search than the configs that kill it", async () => {
  // More than the workers that may be lost without any result.
  const told = await tell("search-signal");
  const all = [1, 2, 3, 4].map((i) =>
    `BM=${i} crash: The worker was killed by SIGSEGV`
  );
  assertEquals(losses(told), all.map((one) => `b ${one}`));
  assertEquals(told.rows, [
    A,
    `b ok: left out ${all.join(", ")}`,
    `${C}BM=16`,
  ]);
});

Deno.test("supervise() goes on without a config that hangs", async () => {
  const silence = new Silence();
  const told = await tell("search-silent", {
    ...silence.options,
    timeoutMs: 2_500,
    heard(event) {
      if (event.event === "progress" && event.trying?.config === "BM=2") {
        silence.pass(2_500);
      }
    },
  });
  const lost =
    "BM=2 timeout: The kernel may hang: no progress for 2.5 s (--timeout)";
  assertEquals(silence.rung, [[0, 1], [0, 1]]);
  assertEquals(losses(told), [`b ${lost}`]);
  assertEquals(spent(told), [5_000]);
  assertEquals(told.rows, [A, `b ok: left out ${lost}`, `${C}BM=16`]);
});

Deno.test("supervise() goes on without configs that could not be launched", async () => {
  const told = await tell("search-launch");
  const all = [1, 2, 3, 4].map((i) => `BM=${i} launch: no luck`);
  assertEquals(told.rows, [
    A,
    `b ok: left out ${all.join(", ")}`,
    `${C}BM=16`,
  ]);
  assertEquals(names(told).includes("restart"), false);
});

Deno.test("supervise() gives the job's lost configs to the first worker", async () => {
  const lost = ["BM=1", "BM=2", "BM=3", "BM=4"].map((config) => ({
    key: keyFor("b"),
    config,
    status: "crash" as const,
    note: "then",
  }));
  const told = await tell("search-signal", {
    job: { ...JOB, configs: { crashed: lost } },
  });
  assertEquals(losses(told), []);
  assertEquals(names(told).filter((name) => name === "ready").length, 1);
});

Deno.test("supervise() blames the case for what happens between two configs and after them", async () => {
  const [between, after] = await Promise.all([
    tell("search-compare"),
    tell("search-over"),
  ]);
  assertEquals(between.rows, [
    A,
    "b crash: The worker exited with code 3, during reference",
    `${C}BM=16`,
  ]);
  assertEquals(after.rows, [
    A,
    "b crash: The worker exited with code 3",
    `${C}BM=16`,
  ]);
});

Deno.test("supervise() blames no config for a row that was lost", async () => {
  assertEquals((await tell("search-quiet")).rows, [
    A,
    "b crash: The worker went on without a result that can be read",
    `${C}undefined`,
  ]);
});

Deno.test("supervise() takes the row of a case that waited for its timing", async () => {
  assertEquals((await tell("waits")).rows, [
    A,
    "b ok: ",
    `${C}undefined`,
  ]);
});

Deno.test("supervise() takes an event torn by its writer's end for a crash", async () => {
  const told = await tell("torn");
  assertEquals(told.rows, [
    A,
    "b crash: The worker exited with code 0",
    `${C}BM=16`,
  ]);
  assertMatch(
    told.printed,
    /^([0-9a-f-]{36}\{"event":"row","row":\{"key){2}$/,
  );
});

Deno.test("supervise() takes back a config's loss that a fresh worker does not confirm", async () => {
  for (const manner of ["used-config", "used-config-launch"]) {
    const told = await tell(manner);
    assertEquals(losses(told), []);
    assert(Number(spent(told)[0]) > 0);
    assertEquals(told.rows, [A, "b ok: ", `${C}BM=16`]);
  }
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
