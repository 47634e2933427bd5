import { assertEquals, assertMatch } from "@std/assert";
import { posix } from "../../bench/testdata/pipes.ts";
import { temporary } from "../../bench/testdata/temporary.ts";
import { backendNamed } from "../../session/take_device.ts";
import { HOME } from "../../session/home.ts";
import { lacking, program, within } from "../testdata/program.ts";

Deno.test({
  name: `init writes files that work, once${lacking()}`,
  ignore: lacking() !== "",
  fn: () =>
    within(async (run, folder) => {
      const made = await run("init", "--backend", "cpu");
      assertEquals(made.code, 0, made.stderr);
      const commands = [...made.stdout.matchAll(/^ {2}(.*)$/gm)]
        .map(([, line]) => line!);
      assertEquals(commands.slice(0, 2), [
        "mnkbench check --suite bench/suite.ts --kernel rows",
        "mnkbench bench --suite bench/suite.ts",
      ]);
      assertMatch(commands[2]!, /^MNKBENCH=\S+ bench\/bench\.sh --record$/);
      const check = commands[0]!.split(" ").slice(1);
      const right = await run(...check, "--m", "4", "--backend", "cpu");
      assertEquals(right.code, 0, right.stderr);

      const script = Deno.readTextFileSync(`${folder}/bench/bench.sh`);
      assertMatch(script, /^SUITE=\$\{SUITE:-\.\/suite\.ts\}$/m);
      assertMatch(script, /^KERNEL=\$\{KERNEL:-rows\}$/m);
      const { mode } = Deno.statSync(`${folder}/bench/bench.sh`);
      assertEquals(mode! & 0o100, 0o100);
      const flow = `${folder}/.github/workflows/kernels.yml`;
      const text = Deno.readTextFileSync(flow);
      assertMatch(text, /^name: kernels$/m);
      assertMatch(text, /^ {10}ref: [\w.]+ #/m);
      assertMatch(text, /run: bench\/bench\.sh \|/);
      assertMatch(text, /^ {4}runs-on: ubuntu-latest /m);
      const suite = Deno.readTextFileSync(`${folder}/bench/suite.ts`);
      assertMatch(suite, /^ {2}name: "kernels",$/m);
      const ignore = `${folder}/.gitignore`;
      assertEquals(Deno.readTextFileSync(ignore), ".runs/\n/bench/new/\n");

      // Nothing is overwritten, and nothing is written beside what is there.
      for (const name of ["bench/rows.c", "bench/suite.ts", "bench/bench.sh"]) {
        Deno.removeSync(`${folder}/${name}`);
      }
      Deno.writeTextFileSync(flow, "mine");
      const again = await run("init", "--backend", "cpu");
      assertEquals([again.code, again.stdout], [2, ""]);
      assertMatch(
        again.stderr,
        /^error: Cannot write \.github\/workflows\/kernels\.yml: it is there already, .*\n$/,
      );
      assertEquals(Deno.readTextFileSync(flow), "mine");
      assertEquals([...Deno.readDirSync(`${folder}/bench`)], []);

      Deno.mkdirSync(`${folder}/sub folder`);
      const kept = `${folder}/sub folder/.gitignore`;
      Deno.writeTextFileSync(kept, "a.out\n.runs/");
      const other = await run("init", "sub folder", "--backend", "cuda");
      assertEquals(other.code, 0, other.stderr);
      assertMatch(
        other.stderr,
        /^Add to sub folder\/\.gitignore: \/bench\/new\/$/m,
      );
      assertEquals(Deno.readTextFileSync(kept), "a.out\n.runs/");
      const gpu = Deno.readTextFileSync(
        `${folder}/sub folder/.github/workflows/kernels.yml`,
      );
      assertMatch(gpu, /^ {4}runs-on: \[self-hosted, linux, gpu\]$/m);
      // Without a GPU the first command takes the emulator.
      const { devices } = (await backendNamed("cuda")).find();
      const tiled = "check --suite bench/suite.ts --kernel tiled";
      const small = "--device emulator:sm_90a --m 19 --k 64";
      assertEquals(
        other.stdout.split("\n")[1],
        `  cd 'sub folder' && mnkbench ${tiled}${
          devices.length > 0 ? "" : ` ${small}`
        }`,
      );
      const names = [...Deno.readDirSync(`${folder}/sub folder/bench`)]
        .map(({ name }) => name).toSorted();
      assertEquals(names, ["bench.sh", "suite.ts", "tiled.cu"]);
    }),
});

Deno.test(
  "init names what is in its way, and writes nothing outside of its folder",
  posix,
  () =>
    within(async (run, root) => {
      const refused = async (name: string) => {
        const { code, stderr } = await run("init", name, "--backend", "cpu");
        assertEquals(code, 2, stderr);
        return stderr;
      };
      assertMatch(await refused(""), /the path is empty/);
      Deno.writeTextFileSync(`${root}/file`, "");
      Deno.symlinkSync("nowhere", `${root}/dangling`);
      Deno.symlinkSync("self", `${root}/self`);
      for (const name of ["file", "dangling", "self", "file/below"]) {
        const [at] = name.split("/");
        assertEquals(
          await refused(name),
          `error: Cannot write ${name}/bench/rows.c: ${at} is there and is not a folder; move it away or name another folder\n`,
        );
      }
      Deno.mkdirSync(`${root}/outside`);
      Deno.mkdirSync(`${root}/mine`);
      Deno.symlinkSync("../outside", `${root}/mine/.github`);
      assertMatch(await refused("mine"), /a link leads out of mine/);
      assertEquals([...Deno.readDirSync(`${root}/outside`)], []);
      assertEquals([...Deno.readDirSync(`${root}/mine`)].length, 1);
      // The folder itself may be reached by a link.
      Deno.symlinkSync("outside", `${root}/link`);
      const { code, stderr } = await run("init", "link", "--backend", "cpu");
      assertEquals(code, 0, stderr);
    }),
);

Deno.test("init typed in a clone prints commands that work in another folder", async () => {
  using folder = temporary();
  const { path } = folder;
  const made = await program(["init", path, "--backend", "cpu"], {
    env: { INIT_CWD: HOME },
  });
  assertEquals(made.code, 0, made.stderr);
  const commands = [...made.stdout.matchAll(/^ {2}cd \S+ && (.*)$/gm)]
    .map(([, line]) => line!);
  assertEquals(commands.length, 3, made.stdout);
  for (const line of commands.slice(0, 2)) {
    assertMatch(line, /task --config \S+\/deno\.json (check|bench) /);
  }
});
