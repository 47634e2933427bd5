import { assert, assertEquals, assertMatch } from "@std/assert";
import { join } from "node:path";
import config from "../deno.json" with { type: "json" };
import { IMPORT_MAP_FILE } from "../session/home.ts";
import { LAUNCHER, packPackage } from "./npm_package.ts";

/** A suite outside of the package, one kernel of the package and one of its own. */
const SUITE =
  `import { defineKernel, defineSuite, kernels, matmul } from "mnkbench";
const mine = defineKernel(matmul, {
  name: "mine",
  backend: "cpu",
  idea: "zeros",
  prepare: ({ operands }) => ({
    steps: [{
      label: "mine",
      capturable: false,
      enqueue: () => operands.C!.fill(0),
    }],
  }),
});
export default defineSuite({
  name: "outside",
  title: "Outside",
  op: matmul,
  axes: { m: [4], k: [64] },
  tie: { n: "m" },
  fixed: { type: "f32" },
  kernels: [...kernels.filter(({ name }) => name === "naive"), mine],
  baselines: ["naive"],
});
`;
const PROGRAM = `import { bench, readRows, table } from "mnkbench";
const { rows, paths } = await bench({ suites: ["./suite.ts"], backend: "cpu" });
const times: number[] = rows.flatMap((row) =>
  row.status === "ok" ? [row.median_us] : []
);
console.log(times.length, (await readRows(paths)).length);
console.log(await table(rows));
`;
/** Has a mistake that only declarations show. */
const WRONG = `import { bench } from "mnkbench";
await bench({ suite: "outside" });
`;

const npm = await new Deno.Command("sh", { args: ["-c", "command -v npx"] })
  .output();
const skipped = npm.success ? "" : ", skipped: no npx";

/** Ends by a signal as `bench` does: some time later, with its code. */
const SLOW =
  `for (const [signal, code] of [["SIGINT", 130], ["SIGTERM", 143]]) {
  Deno.addSignalListener(signal, () => setTimeout(() => Deno.exit(code), 200));
}
setTimeout(() => Deno.exit(1), 10_000);
console.log("ready");
`;

for (const [signal, code] of [["SIGINT", 130], ["SIGTERM", 143]] as const) {
  Deno.test({
    name:
      `the launcher passes ${signal} on, waits, and ends with ${code}${skipped}`,
    ignore: skipped !== "",
    async fn() {
      const folder = await Deno.makeTempDir();
      const write = async (path: string, text: string) => {
        await Deno.mkdir(join(folder, path, ".."), { recursive: true });
        await Deno.writeTextFile(join(folder, path), text);
      };
      try {
        await write("bin.mjs", LAUNCHER);
        await write(
          "node_modules/deno/install_api.cjs",
          `exports.runInstall = () => ${JSON.stringify(Deno.execPath())};`,
        );
        await write(IMPORT_MAP_FILE, '{"imports":{}}');
        await write("cli/main.js", SLOW);
        const program = new Deno.Command("node", {
          args: [join(folder, "bin.mjs")],
          stdout: "piped",
        }).spawn();
        // It alone gets the signal, not its group.
        const output = program.stdout.getReader();
        await output.read();
        program.kill(signal);
        output.releaseLock();
        assertEquals((await program.output()).code, code);
      } finally {
        await Deno.remove(folder, { recursive: true });
      }
    },
  });
}

Deno.test({
  name:
    `the npm package runs from its archive, caches empty, with a suite and a program outside${skipped}`,
  ignore: skipped !== "",
  async fn() {
    const folder = await Deno.makeTempDir();
    const { INIT_CWD: _, ...here } = Deno.env.toObject();
    const env = {
      ...here,
      DENO_DIR: join(folder, "deno"),
      NO_COLOR: "1",
      XDG_CACHE_HOME: join(folder, "kernels"),
      npm_config_cache: join(folder, "npm"),
    };
    const run = async (cwd: string, line: string) => {
      const [program, ...args] = line.split(" ");
      const ended = await new Deno.Command(program!, {
        args,
        cwd: join(folder, cwd),
        clearEnv: true,
        env,
      }).output();
      const text = (bytes: Uint8Array) => new TextDecoder().decode(bytes);
      return {
        code: ended.code,
        stdout: text(ended.stdout),
        stderr: text(ended.stderr),
      };
    };
    const brief = "--backend cpu --warmup 0 --rep 1";
    try {
      await packPackage(join(folder, "mnkbench.tgz"));
      for (const cwd of ["empty", "project"]) {
        await Deno.mkdir(join(folder, cwd));
        await Deno.writeTextFile(join(folder, cwd, "suite.ts"), SUITE);
      }
      // Neither it nor Deno is in the folder.
      const npx = "npx --yes --package ../mnkbench.tgz mnkbench";
      const first = await run(
        "empty",
        `${npx} bench --suite ./suite.ts ${brief}`,
      );
      assertEquals(first.code, 1, first.stderr);
      assertMatch(
        first.stdout,
        /^outside on .*\n.* naive +mine\n4×4×64 .* wrong\n/,
      );
      assertMatch(first.stderr, /^Next, .*: npx mnkbench check --suite /m);
      const version = await run("empty", `${npx} --version`);
      assertEquals(version.stdout, `${config.version}\n`);

      await Deno.writeTextFile(join(folder, "project/package.json"), "{}");
      const installed = await run("project", "npm install ../mnkbench.tgz");
      assertEquals(installed.code, 0, installed.stderr);
      await Deno.writeTextFile(join(folder, "project/program.ts"), PROGRAM);
      await Deno.writeTextFile(join(folder, "project/wrong.ts"), WRONG);
      const checked = await run(
        "project",
        "npx deno check program.ts suite.ts",
      );
      assertEquals(checked.code, 0, checked.stderr);
      const wrong = await run("project", "npx deno check wrong.ts");
      assertMatch(
        wrong.stderr,
        /'suite' does not exist in type 'BenchOptions'/,
      );
      const { stdout, stderr } = await run(
        "project",
        "npx deno run -A program.ts",
      );
      assertMatch(stdout, /^1 2\noutside on /, stderr);

      const packed = await run("project", "npx mnkbench build --pack");
      assertMatch(packed.stderr, /^error: Cannot pack the npm package, /m);
      const manifest = JSON.parse(
        await Deno.readTextFile(
          join(folder, "project/node_modules/mnkbench/package.json"),
        ),
      );
      assertEquals(manifest.version, config.version);
      assert(
        Object.values<string>(manifest.dependencies)
          .every((version) => /^\d+\.\d+\.\d+$/.test(version)),
      );
    } finally {
      await Deno.remove(folder, { recursive: true });
    }
  },
});
