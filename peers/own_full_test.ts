import { assertEquals, assertMatch } from "@std/assert";
import { emulatorLibrary } from "../backends/emulator/emulator.ts";
import { cxxTest } from "../backends/testdata/mocks.ts";
import { temporary } from "../bench/testdata/temporary.ts";
import { program } from "../cli/testdata/program.ts";
import { file, PROGRAM } from "./testdata/own_suite.ts";

const gpu = await new Deno.Command("sh", {
  args: [
    "-c",
    `\${MNKBENCH_PYTHON:-python3} -c "import torch, triton, sys; sys.exit(not torch.cuda.is_available())"`,
  ],
  stdout: "null",
  stderr: "null",
}).output();

Deno.test({
  name: "examples/python is right (needs a GPU, PyTorch and Triton)",
  ignore: !gpu.success,
  async fn() {
    const kernels = ["triton", "custom-op", "compiled"];
    const { code, stdout, stderr } = await program([
      ...["check", "--suite", "examples/python/suite.ts", "--m", "16,200"],
      ...kernels.flatMap((kernel) => ["--kernel", kernel]),
    ]);
    assertEquals(code, 0, stderr);
    assertMatch(stdout, /^6 cases: 6 right, 0 failed, 0 unsupported$/m);
  },
});

cxxTest(
  "bench, check and compare take Python functions (needs python3)",
  async () => {
    using folder = temporary();
    const { path } = folder;
    // The emulator's driver as that of a GPU, and the stub in the place of Python's program.
    Deno.symlinkSync(
      emulatorLibrary("cuda", { folder: `${path}/emulator` }),
      `${path}/libcuda.so.1`,
    );
    const python = `${path}/python`;
    Deno.writeTextFileSync(
      python,
      `#!/bin/sh\nexec python3 -uB ${PROGRAM.pathname}\n`,
    );
    Deno.chmodSync(python, 0o755);
    const env = { LD_LIBRARY_PATH: path, MNKBENCH_PYTHON: python };
    const say = async (command: string, code: number, said: RegExp) => {
      const args = [...command.split(" "), "--m", "4", "--k", "32"];
      // Its instruments are not built: they take an emulator minutes.
      args.push("--kernel-cache", `${path}/kernels`, "--prebuilt");
      const ran = await program(args, { cwd: path, env });
      assertEquals(ran.code, code, ran.stderr);
      assertMatch(ran.stdout + ran.stderr, said);
    };
    const brief = "--timer graph --rep 1 --warmup 1";
    const [good, bad] = [file("good.py"), file("bad.py")];
    await say(
      `bench ${good}:writes --kernel writes ${brief}`,
      0,
      /^4×4×32 +5\.000$/m,
    );
    await say(
      `bench ${bad}:crashes --kernel crashes ${brief}`,
      1,
      /crash at 4×4×32: Its Python was killed by SIGABRT/,
    );
    await say(`check ${good}:writes --kernel writes`, 0, /^1 case: 1 right/m);
    await say(`check ${bad}:raises --kernel raises`, 1, /ValueError: K is odd/);
    await say(
      `compare ${good}:writes ${good}:itself ${brief} --runs 2`,
      0,
      /1\.000x ± 0\.000 +same$/m,
    );
    await say(
      `bench ${good}:writes --peers ${good}:itself --kernel itself --kernel writes ${brief}`,
      0,
      /itself +writes +ours vs best peer$/m,
    );
  },
);
