import {
  assert,
  assertEquals,
  assertMatch,
  assertRejects,
  assertThrows,
} from "@std/assert";
import { fileURLToPath } from "node:url";
import type { DeviceInfo } from "../bench/device/device.ts";
import { readCsv } from "../bench/row/read_csv.ts";
import { UserError } from "../bench/model/errors.ts";
import { caseText, keyOf } from "../bench/row/row.ts";
import { DEFAULTS, type Row, select, sweep } from "mnkbench/session";
import { missingCases } from "./findings.ts";
import { demandComplete, ordered } from "./sweep.ts";

const SUITE = fileURLToPath(
  new URL("../cli/testdata/small_suite.ts", import.meta.url),
);

/** Sweeps the small suite, all files below `folder`; `more` differs from the usual. */
async function sweepIn(
  folder: string,
  more: {
    readonly out?: string;
    readonly resume?: boolean;
    readonly signal?: AbortSignal;
    readonly runs?: number;
    readonly kernels?: readonly string[];
    row?(row: Row): void;
    infos?(own: DeviceInfo): readonly DeviceInfo[];
  } = {},
) {
  const taken = await select({
    suites: [SUITE],
    kernels: more.kernels ?? [],
    quick: false,
    overrides: {},
    where: {},
    backend: "cpu",
    device: 0,
  });
  const infos = more.infos?.(taken.info);
  const selected = infos ? { ...taken, infos } : taken;
  const lines: string[] = [];
  const end = await sweep(
    selected,
    {
      ...DEFAULTS,
      warmup: 0.1,
      rep: 0.5,
      cacheDir: `${folder}/kernels`,
    },
    {
      fresh: false,
      timeout: 60,
      unfinished: `${folder}/runs`,
      runs: more.runs ?? 1,
      out: `${folder}/${more.out ?? "out"}`,
      resume: more.resume ?? false,
      signal: more.signal ?? new AbortController().signal,
      observer: {
        note: (text) => lines.push(text),
        row: (row) => more.row?.(row),
        progress: () => ({
          update() {},
          print: (line) => lines.push(line),
          [Symbol.dispose]() {},
        }),
      },
    },
  );
  return { ...end, lines, selected };
}

Deno.test("sweep() measures, keeps and publishes without a command line", async () => {
  const folder = await Deno.makeTempDir();
  try {
    const seen: Row[] = [];
    const { rows, paths, kept, lines, selected } = await sweepIn(folder, {
      row: (row) => seen.push(row),
    });
    assertEquals(rows.length, selected.cases.length);
    assertEquals(kept, rows.length);
    assertEquals(rows.map(({ key }) => key), seen.map(({ key }) => key));
    const statuses = rows.map(({ key, status }) => `${key.kernel} ${status}`);
    assertEquals(
      new Set(statuses),
      new Set(["naive ok", "zeros wrong", "picky unsupported"]),
    );
    // Each failure is said once, with its case.
    assertEquals(lines.filter((line) => line.startsWith("FAIL")).length, 4);
    for (const path of paths) assert((await Deno.stat(path)).isFile);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
});

Deno.test("sweep() measures problems in another order in each repeat", async () => {
  const folder = await Deno.makeTempDir();
  try {
    const seen: Row[] = [];
    const { rows, selected } = await sweepIn(folder, {
      runs: 3,
      kernels: ["naive"],
      row: (row) => seen.push(row),
    });
    const texts = (some: readonly Row[]) =>
      some.map(({ key }) => caseText(key));
    const count = selected.cases.length;
    assertEquals(texts(rows), texts(seen.slice(0, count)));
    for (const repeat of [1, 2]) {
      const own = seen.slice(repeat * count, (repeat + 1) * count);
      assertEquals(texts(own).toSorted(), texts(rows).toSorted());
      assertEquals(
        texts(own),
        ordered(selected.cases, repeat).map((c) => caseText(keyOf(c))),
      );
    }
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
});

Deno.test("ordered() shuffles problems from the second repeat on, and keeps each together", async () => {
  const { cases } = await select({
    suites: ["epilogue-bf16"],
    kernels: ["blocked", "openblas"],
    overrides: {},
    where: {},
    quick: false,
    backend: "cpu",
    device: 0,
  });
  const orders = [0, 1, 2, 3, 4].map((repeat) => ordered(cases, repeat));
  assertEquals(orders[0], cases);
  const places = orders.map((own) => own.indexOf(cases[0]!));
  assert(new Set(places).size > 3, `${places}`);
  for (const own of orders) {
    assertEquals(new Set(own), new Set(cases));
    const changes = own.filter((c, i) => c.problem !== own[i - 1]?.problem);
    assertEquals(changes.length, new Set(cases.map((c) => c.problem)).size);
  }
});

Deno.test("sweep() shares the cases among devices in one CSV, without one that is not there", async () => {
  const folder = await Deno.makeTempDir();
  try {
    // Two workers on the same CPU, and one that finds no device.
    const { rows, paths, lines, selected } = await sweepIn(folder, {
      kernels: ["naive"],
      infos: (own) => [
        { ...own, uuid: "one" },
        { ...own, uuid: "two" },
        { ...own, index: 9, uuid: "gone" },
      ],
    });
    assertEquals(rows.length, selected.cases.length);
    assertMatch(
      lines.find((line) => line.startsWith("Device"))!,
      /^Device 9 is left out, and its cases go to 2 other devices: No usable device: cpu: no device 9, only 0/,
    );
    const [path, ...more] = paths;
    assertEquals(more, []);
    const written = readCsv(await Deno.readTextFile(path!), path!);
    assertEquals(
      new Set(written.map((r) => `${r.device_index} ${r.device_uuid}`)),
      new Set(["0 one", "0 two"]),
    );
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
});

Deno.test("sweep() goes on with a stopped run for the same folder of results only", async () => {
  const folder = await Deno.makeTempDir();
  try {
    const stop = new AbortController();
    // Two workers, of which one is stopped within a case.
    const infos = (own: DeviceInfo) => [own, { ...own, uuid: "other" }];
    const { rows, kept, paths: [begun] } = await sweepIn(folder, {
      signal: stop.signal,
      row: () => stop.abort(),
      infos,
    });
    assert(kept > 0);
    assertEquals(rows.length, kept);
    // What there is can be taken along.
    const taken = readCsv(await Deno.readTextFile(begun!), begun!);
    assertEquals(taken.length, kept);
    await assertRejects(
      () => sweepIn(folder, { out: "other", resume: true }),
      UserError,
      "No unfinished run of this command is here",
    );
    const measured: Row[] = [];
    const { paths, rows: all, selected } = await sweepIn(folder, {
      resume: true,
      infos,
      row: (row) => measured.push(row),
    });
    for (const path of paths) assert(path.startsWith(`${folder}/out/`));
    const texts = (own: readonly Row[]) =>
      own.map(({ key }) => caseText(key)).toSorted();
    const cases = selected.cases.map((c) => caseText(keyOf(c))).toSorted();
    // Those that were kept are told too.
    assertEquals([texts(all), texts(measured)], [cases, cases]);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
});

Deno.test("sweep() says that rows are kept where the results cannot be written", async () => {
  const folder = await Deno.makeTempDir();
  try {
    const out = `${folder}/out`;
    const error = await assertRejects(() =>
      sweepIn(folder, {
        row() {
          if (Deno.statSync(out).isFile) return;
          Deno.removeSync(out, { recursive: true });
          Deno.writeTextFileSync(out, "");
        },
      }), UserError);
    assertMatch(
      error.message,
      /^Cannot write .*; make room, make the folder writable or name another; what was measured is kept: the same command continues$/,
    );
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
});

/** The quick cases of the small suite, and a journal of the first `counts[repeat]` of each repeat. */
async function quickCases() {
  const { cases } = await select({
    suites: [SUITE],
    kernels: [],
    overrides: {},
    where: {},
    quick: true,
    backend: "cpu",
    device: 0,
  });
  const keys = cases.map((c) => caseText(keyOf(c)));
  const having = (...counts: number[]) => ({
    done: (repeat: number) => new Set(keys.slice(0, counts[repeat])),
  });
  return { cases, having };
}

Deno.test("missingCases() gives the cases without a row in a repeat", async () => {
  const { cases, having } = await quickCases();
  assertEquals(cases.length, 3);
  assertEquals(missingCases(having(3, 1), cases, 0), []);
  assertEquals(missingCases(having(3, 1), cases, 1), cases.slice(1));
});

Deno.test("missingCases() is not misled by rows of cases that are not selected", async () => {
  const { cases } = await quickCases();
  const others = { done: () => new Set(["x", "y", "z"]) };
  assertEquals(missingCases(others, cases, 0), cases);
});

Deno.test("demandComplete() refuses a run that lacks rows, and says how to go on", async () => {
  const { cases, having } = await quickCases();
  demandComplete(having(3, 3), cases, { runs: 2, fresh: false });
  for (
    const [fresh, command] of [
      [false, "the same command continues"],
      [true, "the same command without --fresh continues"],
    ] as const
  ) {
    assertThrows(
      () => demandComplete(having(2, 1), cases, { runs: 2, fresh }),
      UserError,
      `Cannot write the results: 3 of 6 rows are missing, as the worker ended without them; what was measured is kept: ${command}`,
    );
  }
});
