import { assertEquals, assertMatch } from "@std/assert";
import { join } from "node:path";
import { readIfThere, unlessMissing } from "../bench/files/disk.ts";
import { readCsv } from "../bench/row/read_csv.ts";
import { readRows } from "../session/read_rows.ts";
import { lacking, program, start, testdata } from "./testdata/program.ts";
import { within } from "../bench/testdata/temporary.ts";

const ROWS: readonly (readonly [string, string, RegExp])[] = [
  ["hungry", "oom", /1125899906842624/],
  [
    "uncompilable",
    "compile",
    /^faults\.c:\d+:\d+: error: .*\(log: .*\.log\)$/,
  ],
  ["segfault", "crash", /SIGSEGV/],
  ["illegal", "crash", /SIGSEGV|SIGBUS|SIGILL|SIGTRAP/],
  ["forever", "timeout", /no progress for 8 s/],
  ["unwritten", "wrong", /1 of 64 elements are NaN/],
  ["nan-result", "wrong", /64 of 64 elements are NaN/],
  [
    "out-of-bounds",
    "wrong",
    /C: (wrote 4 bytes|was written right) past its end/,
  ],
  ["off-by-some", "wrong", /1 of 64 elements mismatch/],
  ["stops", "wrong", /^while timed, at sample \d+ of \d+: C \(\d, \d\) is /],
  ["right", "ok", /(?:)/],
];

Deno.test({
  name: `bench gives every failing kernel its row and goes on${lacking()}`,
  ignore: lacking() !== "",
  async fn() {
    const out = await Deno.makeTempDir();
    try {
      const { code } = await program([
        ...["bench", "--suite", testdata("fault_suite.ts"), "--backend", "cpu"],
        ...["--timeout", "8", "--warmup", "1", "--rep", "1", "--out", out],
        ...["--kernel-cache", join(out, "cache")],
      ], { cwd: out });
      assertEquals(code, 1);
      const [device] = [...Deno.readDirSync(out)].filter(({ name }) =>
        name !== "cache" && name !== ".runs"
      );
      const file = join(out, device!.name, "faults.csv");
      const rows = readCsv(await Deno.readTextFile(file), file);
      assertEquals(
        rows.map(({ kernel, status }) => [kernel, status]),
        ROWS.map(([kernel, status]) => [kernel, status]),
      );
      const nan = rows.find(({ kernel }) => kernel === "nan-result")!;
      assertEquals(nan.max_abs_err, "NaN");
      assertEquals((await readRows([file])).length, ROWS.length);
      for (const [i, [, , note]] of ROWS.entries()) {
        assertMatch(rows[i]!.note, note);
      }
    } finally {
      await Deno.remove(out, { recursive: true });
    }
  },
});

const ignore = lacking() !== "";
const SUITE = [
  ...["--suite", testdata("search_faults_suite.ts"), "--backend", "cpu"],
  ...["--warmup", "0", "--rep", "1", "--search", "2"],
];
const LEFT_OUT =
  "left out KIND=2 (crash: The worker was killed by SIGSEGV), KIND=4 (timeout: The kernel may hang: no progress for 8 s (--timeout))";

/** The arguments of `command` on kernels of the suite, all files in `folder`. */
function words(command: string, folder: string, ...more: string[]): string[] {
  const files = ["--kernel-cache", join(folder, "cache")];
  return [command, ...SUITE, ...files, ...more];
}

/** What the unfinished run in `folder` says of the case at work; empty before it says anything. */
function begunIn(folder: string): string {
  const runs = join(folder, ".runs");
  const entries = unlessMissing(() => [...Deno.readDirSync(runs)]) ?? [];
  return entries.map(({ name }) =>
    readIfThere(join(runs, name, "begun.json")) ?? ""
  ).join("");
}

/** The configs that were said to be lost, in order. */
const losses = (stderr: string) =>
  [...stderr.matchAll(/^LOST .* at (\S+): (\w+), /mg)]
    .map(([, config, status]) => `${config} ${status}`);

Deno.test({
  name:
    `bench searches on without configs that segfault or hang, once for all repeats${lacking()}`,
  ignore,
  fn: () =>
    within(async (folder) => {
      const out = join(folder, "out");
      const { code, stderr } = await program(
        words(
          "bench",
          folder,
          ...["--kernel", "fragile", "--m", "8", "--timeout", "8"],
          ...["--runs", "2", "--out", out],
        ),
        { cwd: folder },
      );
      assertEquals(code, 0, stderr);
      assertEquals(losses(stderr), ["KIND=2 crash", "KIND=4 timeout"]);
      const [one] = await readRows([out]);
      const { status, config_by, runs, search_configs } = one!.row;
      assertEquals([status, config_by, runs, search_configs], [
        ...["ok", "search", "2", "5"],
      ]);
      // Two of the five wait, so that a busy machine does not change the winner.
      assertEquals(one!.row.config, "KIND=5");
      assertMatch(
        one!.row.note,
        /^left out KIND=2 \(crash: .*SIGSEGV\), KIND=4 \(/,
      );
    }),
});

Deno.test({
  name: `bench goes on, after it was killed, without what was lost${lacking()}`,
  ignore,
  fn: () =>
    within(async (folder) => {
      const out = join(folder, "out");
      const args = (timeout: string) =>
        words(
          "bench",
          folder,
          ...["--kernel", "fragile", "--m", "8", "--timeout", timeout],
          ...["--out", out],
        );
      // It waits for the config that hangs when it is killed.
      const first = start(args("600"), folder);
      let said = "";
      for await (
        const text of first.stderr.pipeThrough(new TextDecoderStream())
      ) {
        said += text;
        if (losses(said).length > 0) break;
      }
      first.kill("SIGKILL");
      await first.stdout.cancel();
      await first.status;
      assertEquals(losses(said), ["KIND=2 crash"]);
      const { code, stderr } = await program(args("8"), { cwd: folder });
      assertEquals(code, 0, stderr);
      assertEquals(losses(stderr), ["KIND=4 timeout"]);
      const [one] = await readRows([out]);
      assertEquals(one!.row.note.split("; ")[0], LEFT_OUT);
    }),
});

Deno.test({
  name: `bench blames a case during which it was killed twice${lacking()}`,
  ignore,
  fn: () =>
    within(async (folder) => {
      const args = [
        ...["bench", "--suite", testdata("fault_suite.ts"), "--backend", "cpu"],
        ...["--kernel", "forever,right", "--timeout", "600", "--out", "out"],
        ...["--warmup", "0", "--rep", "1", "--kernel-cache", "cache"],
      ];
      for (const starts of [1, 2]) {
        const killed = start(args, folder);
        const begun = `"starts":${starts}`;
        while (!begunIn(folder).includes(begun)) {
          await new Promise((resolve) => setTimeout(resolve, 20));
        }
        if (starts === 2) {
          assertMatch(
            await until(killed.stderr, "it is run again"),
            /: the program ended while it ran, in 1 start; it is run again/,
          );
        } else await killed.stderr.cancel();
        killed.kill("SIGKILL");
        await killed.stdout.cancel();
        await killed.status;
      }
      const { code, stderr } = await program(args, { cwd: folder });
      assertEquals(code, 1, stderr);
      const rows = await readRows([join(folder, "out")]);
      assertEquals(
        rows.map(({ row: { kernel, status, note } }) =>
          kernel === "right" ? [kernel, status] : [kernel, status, note]
        ),
        [
          [
            "forever",
            "crash",
            "the program ended while it ran, in 2 starts; --fresh runs it again",
          ],
          ["right", "ok"],
        ],
      );
    }),
});

Deno.test({
  name:
    `tune tries no config at a third shape that was lost at two, and remembers the winners${lacking()}`,
  ignore,
  fn: () =>
    within(async (folder) => {
      const tune = (...kernels: string[]) =>
        program(
          words(
            "tune",
            folder,
            ...["--timeout", "8", "--timing-cache", join(folder, "t.json")],
            ...["--kernel", kernels.join(","), "--json"],
          ),
          { cwd: folder },
        );
      const { code, stdout, stderr } = await tune("refusing", "hopeless");
      // One of the two kernels has no config that works.
      assertEquals(code, 1, stderr);
      assertEquals(losses(stderr), [
        ...Array(2).fill([
          "KIND=3 launch",
          ...["AT=1 crash", "AT=3 crash", "AT=5 crash"],
        ]).flat(),
      ]);
      const rows = stdout.trimEnd().split("\n").map((line) => JSON.parse(line));
      const of = (name: string) => rows.filter(({ kernel }) => kernel === name);
      for (const { status, timed, failed, note } of of("refusing")) {
        assertEquals([status, timed, failed], ["checked", 5, 1]);
        assertEquals(
          note,
          "left out KIND=3 (launch: Cannot prepare the kernel: TypeError: no such thing)",
        );
      }
      for (const { status, note } of of("hopeless")) {
        assertEquals(status, "crash");
        assertMatch(
          note,
          /^No config is left to search: AT=1, AT=3, AT=5 \(crash: .*SIGSEGV\)$/,
        );
      }
      assertEquals(of("hopeless").length, 3);
      const again = await tune("refusing");
      assertEquals(
        again.stdout.trimEnd().split("\n").map((line) => JSON.parse(line))
          .map(({ kernel, config_by }) => `${kernel} ${config_by}`),
        Array(3).fill("refusing cache"),
        again.stderr,
      );
    }),
});

Deno.test({
  name:
    "bench runs nothing from a kernel cache that others may write to, and ends",
  ignore: Deno.build.os === "windows",
  async fn() {
    const out = await Deno.makeTempDir();
    try {
      const cache = join(out, "cache");
      await Deno.mkdir(cache);
      await Deno.chmod(cache, 0o777);
      const { code, stdout, stderr } = await program([
        ...["bench", "--suite", testdata("small_suite.ts"), "--backend", "cpu"],
        ...["--quick", "--out", out, "--kernel-cache", cache],
      ], { cwd: out });
      assertEquals(code, 2, stderr);
      assertMatch(
        stderr,
        /^error: Cannot run what is in .*cache: other users may write to it \(mode 0777\);.*chmod 700.*$/m,
      );
      assertEquals(stdout, "");
    } finally {
      await Deno.remove(out, { recursive: true });
    }
  },
});

/** Reads `stream` until `text` was in it, and leaves the rest. */
async function until(
  stream: ReadableStream<Uint8Array<ArrayBuffer>>,
  text: string,
): Promise<string> {
  let all = "";
  for await (const part of stream.pipeThrough(new TextDecoderStream())) {
    all += part;
    if (all.includes(text)) break;
  }
  return all;
}
