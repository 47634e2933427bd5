import { assertEquals, assertMatch, assertThrows } from "@std/assert";
import { cpu } from "../backends/cpu/cpu.ts";
import { DEFAULTS } from "../bench/model/settings.ts";
import { keyOf, type Row } from "../bench/row/row.ts";
import { select } from "./select.ts";
import { testdata } from "../cli/testdata/program.ts";
import { CrashedConfigs, TimingCacheDraft, validity } from "./run_state.ts";
import { Journal } from "../bench/worker/journal.ts";
import type { Event } from "../bench/worker/protocol.ts";
import { INFO } from "../bench/testdata/jobs.ts";
import { keyFor } from "../bench/testdata/rows.ts";
import { join } from "node:path";
import { readTimings, type TimingEntry } from "../bench/tune/timing_cache.ts";
import { UserError } from "../bench/model/errors.ts";
import { within } from "../bench/testdata/temporary.ts";
import { timingEntry } from "../bench/testdata/timings.ts";

const SETTINGS = { ...DEFAULTS, cacheDir: "unused" };

async function testOf(file: string, kernel: string) {
  const selected = await select({
    suites: [testdata(file)],
    kernels: [kernel],
    overrides: {},
    where: {},
    quick: true,
    backend: cpu.name,
    device: 0,
  });
  const base = {
    key: keyOf(selected.cases[0]!),
    place: { device: "", arch: "" },
    config: "",
    config_by: "",
    note: "",
  } as const;
  const row = (status: "crash" | "unsupported", source_hash?: string): Row => ({
    ...base,
    status,
    provenance: {
      timer: "do_bench",
      cache: "cold",
      ...(source_hash === undefined ? {} : { source_hash }),
    },
  });
  return { still: validity(selected, SETTINGS), row, selected };
}

Deno.test("validity() keeps rows of a kernel without sources", async () => {
  const { still, row } = await testOf("small_suite.ts", "naive");
  assertEquals(still(row("crash", "")), true);
});

Deno.test("validity() drops rows of other sources, and of cases not selected", async () => {
  const { still, row } = await testOf("fault_suite.ts", "uncompilable");
  const other = row("crash", "0123456789abcdef");
  const elsewhere = { ...other, key: { ...other.key, m: "3" } };
  assertEquals([still(other), still(row("crash")), still(elsewhere)], [
    false,
    false,
    false,
  ]);
});

Deno.test("validity() keeps what is still unsupported", async () => {
  const picky = await testOf("small_suite.ts", "picky");
  assertEquals(picky.still(picky.row("unsupported")), true);
  const naive = await testOf("small_suite.ts", "naive");
  assertEquals(naive.still(naive.row("unsupported")), false);
});

Deno.test("validity() drops rows of kernels whose functions throw by now", async () => {
  const { selected, row } = await testOf("small_suite.ts", "picky");
  const fail = () => {
    throw new Error("spoilt");
  };
  const cases = selected.cases.map((c) => ({
    ...c,
    unsupported: fail,
    builds: fail,
  }));
  const still = validity({ ...selected, cases }, SETTINGS);
  assertEquals(still(row("unsupported")), false);
  assertEquals(still(row("crash", "0123456789abcdef")), false);
});

Deno.test("validity() drops rows of a kernel whose source is gone", async () => {
  const { selected, row } = await testOf("fault_suite.ts", "uncompilable");
  const source = new URL("./no_such.c", import.meta.url);
  const cases = selected.cases.map((c) => ({
    ...c,
    builds: () => [{ source, defines: {} }],
  }));
  const still = validity({ ...selected, cases }, SETTINGS);
  assertEquals(still(row("crash", "0123456789abcdef")), false);
});

const crash = (config: string): Event => ({
  event: "config",
  key: keyFor("k"),
  config,
  status: "crash",
  note: "!",
});

Deno.test("CrashedConfigs are those of this start and of earlier ones with the same sources", () => {
  const folder = Deno.makeTempDirSync();
  try {
    {
      using journal = new Journal(folder, INFO);
      const losses = new CrashedConfigs(
        journal,
        (_, config) => `source of ${config}`,
      );
      losses.take(crash("BM=1"), 0);
      losses.take(crash("BM=2"), 1);
      losses.take({ ...crash("BM=3"), status: "oom" } as Event, 1);
      assertEquals(losses.all.map(({ config }) => config), ["BM=1", "BM=2"]);
    }
    using journal = new Journal(folder, INFO);
    const fixed = new CrashedConfigs(
      journal,
      (_, config) => config === "BM=1" ? "fixed" : `source of ${config}`,
    );
    assertEquals(fixed.all.map(({ config }) => config), ["BM=2"]);
    assertEquals(new CrashedConfigs(journal, () => undefined).all, []);
  } finally {
    Deno.removeSync(folder, { recursive: true });
  }
});

function tuned(entry: TimingEntry): Event {
  return { event: "tuned", entry } as Event;
}

Deno.test("TimingCacheDraft keeps what a run found before it was killed, of repeats the first", async () => {
  const dir = await Deno.makeTempDir();
  try {
    const [draft, timingCache] = [join(dir, "draft"), join(dir, "t.json")];
    const first = new TimingCacheDraft({ timingCache }, draft);
    assertEquals(first.keep(), []);
    first.take(tuned(timingEntry("a", { us: 1 })));
    // Killed here; the same command goes on.
    const second = new TimingCacheDraft({ timingCache }, draft);
    second.take(tuned(timingEntry("a", { us: 2 })));
    second.take(tuned(timingEntry("b", { us: 3 })));
    assertEquals(readTimings(timingCache).size, 0);
    assertMatch(second.keep().join(), /^Kept 2 configs in .*t\.json$/);
    assertEquals(
      readTimings(timingCache).entries.map(([, { us }]) => us).sort(),
      [1, 3],
    );
  } finally {
    await Deno.remove(dir, { recursive: true });
  }
});

Deno.test("TimingCacheDraft says that a damaged draft of its own is to be removed", () =>
  within((folder) => {
    const draft = join(folder, "draft");
    Deno.writeTextFileSync(draft, "{");
    assertThrows(
      () => new TimingCacheDraft({}, draft),
      UserError,
      `${draft}: it is damaged or cut short; remove it to go on`,
    );
  }));

Deno.test("TimingCacheDraft keeps nothing without a timing cache", async () => {
  const dir = await Deno.makeTempDir();
  try {
    const one = new TimingCacheDraft({}, join(dir, "draft"));
    one.take(tuned(timingEntry("a")));
    assertEquals(one.keep(), []);
    assertEquals([...Deno.readDirSync(dir)], []);
  } finally {
    await Deno.remove(dir, { recursive: true });
  }
});
