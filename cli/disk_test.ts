import { assertEquals, assertMatch } from "@std/assert";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { command, lacking, testdata, within } from "./testdata/program.ts";

const posix = Deno.build.os !== "windows";
const ignore = lacking() !== "" || !posix;

/** The words of a sweep whose files are in the folder where it starts. */
const words = (suite: string, ...more: readonly string[]) => [
  ...["bench", "--suite", testdata(suite), "--backend", "cpu", "--rep", "1"],
  ...["--warmup", "0", "--kernel-cache", "cache", "--out", "out", ...more],
];

Deno.test({
  name:
    `bench publishes no row of a compiler for which the disk had no room${lacking()}`,
  ignore,
  fn: () =>
    within(async (run, folder) => {
      const suite = words("small_suite.ts", "--kernel", "naive", "--k", "8");
      assertEquals((await run(...suite)).code, 0);
      const csv = join(
        folder,
        "out",
        deviceIn(join(folder, "out")),
        "small.csv",
      );
      const before = await Deno.readTextFile(csv);
      await Deno.remove(join(folder, "cache"), { recursive: true });
      // A limit on the size of files: what is larger fails as on a full disk.
      const [program, ...args] = command(suite);
      const { code, stderr } = await new Deno.Command("sh", {
        args: [
          "-c",
          'trap "" XFSZ; ulimit -f 16; exec "$@"',
          "sh",
          program!,
          ...args,
        ],
        cwd: folder,
      }).output();
      const said = new TextDecoder().decode(stderr);
      assertEquals(code, 2, said);
      assertMatch(
        said,
        /^error: Cannot keep kernels in .*: File too large .*--kernel-cache DIR$/m,
      );
      assertEquals(await Deno.readTextFile(csv), before);
    }),
});

Deno.test({
  name:
    `bench refuses a timing cache that cannot be written, before it measures${lacking()}`,
  ignore,
  fn: () =>
    within(async (run, folder) => {
      // What is in the place of its lock stops also the user who may do anything.
      await Deno.mkdir(join(folder, "t.json.lock"));
      const { code, stderr } = await run(
        ...words("tunable_suite.ts", "--timing-cache", "t.json"),
      );
      assertEquals(code, 2, stderr);
      assertMatch(stderr, /^error: Cannot write .*t\.json: /m);
      // Neither kernels nor rows.
      const made = [...Deno.readDirSync(folder)].map(({ name }) => name);
      assertEquals(made.filter((name) => /cache|runs/.test(name)), []);
    }),
});

Deno.test({
  name: `bench refuses a built kernel that others may write to${lacking()}`,
  ignore,
  fn: () =>
    within(async (run, folder) => {
      const suite = words("fault_suite.ts", "--kernel", "right");
      assertEquals((await run(...suite)).code, 0);
      const cache = join(folder, "cache");
      // That of the kernel alone: those of the calibration are opened before any is built.
      const [entry] = [...Deno.readDirSync(cache)].filter(({ name }) =>
        /^faults\./.test(name)
      );
      await Deno.chmod(join(cache, entry!.name), 0o775);
      const { code, stderr } = await run(...suite);
      assertEquals(code, 2, stderr);
      assertMatch(
        stderr.trim(),
        /^error: Cannot run what is in .*mode 0775.*--kernel-cache DIR$/m,
      );
      assertEquals(/Uncaught|Suppressed/.test(stderr), false, stderr);
    }),
});

Deno.test({
  name: "report and bench name what Deno alone refuses in words of their own",
  // Which files those are differs by system.
  ignore: ignore || Deno.build.os !== "linux",
  fn: () =>
    within(async (run) => {
      const rows = fileURLToPath(
        new URL("../results/published/decompose-k-v3.csv", import.meta.url),
      );
      const refused = [
        await run("report", "--out", "/dev/full", rows),
        await run(
          ...words("small_suite.ts", "--kernel", "naive"),
          ...["--timing-cache", "/proc/none/timings.json"],
        ),
      ];
      for (const { code, stderr } of refused) {
        assertEquals(code, 2, stderr);
        assertMatch(
          stderr,
          /^error: Cannot \w+ \/(dev|proc)\/.*: it is a device, or in a folder of the system's own such as \/dev and \/proc; (make|move) /m,
        );
        assertEquals(/allow-all|measured before/.test(stderr), false, stderr);
      }
    }),
});

/** The only folder of results in `out`. */
function deviceIn(out: string): string {
  const [device] = [...Deno.readDirSync(out)];
  return device!.name;
}
