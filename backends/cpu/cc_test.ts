import { equal, ok, rejects, throws } from "node:assert/strict";
import { pathToFileURL } from "node:url";
import { CaseError } from "../../bench/model/errors.ts";
import { cpu, cpuBackend } from "./cpu.ts";

const info = cpu.find().devices[0]!;
const hasCompiler = (() => {
  try {
    cpu.compiler(info.arch);
    return true;
  } catch (error) {
    if (error instanceof CaseError) return false;
    throw error;
  }
})();
const skip = hasCompiler ? "" : " (ignored: no C compiler)";
const needsCompiler = { ignore: !hasCompiler };

/** A failure's kind and text. */
function failure(kind: string, text: RegExp): (error: unknown) => boolean {
  return (error) => {
    ok(error instanceof CaseError, `${error}`);
    equal(error.failure, kind);
    ok(text.test(error.message), error.message);
    ok(!error.message.includes("\n"), error.message);
    return true;
  };
}

/** Compiles `code` in a folder of its own and hands the binary to `use`. */
async function withBinary(
  code: string,
  use: (binary: string) => void | Promise<void>,
  defines: Record<string, string | number> = {},
): Promise<void> {
  const folder = await Deno.makeTempDir();
  try {
    await Deno.writeTextFile(`${folder}/a b.c`, code);
    const source = pathToFileURL(`${folder}/a b.c`);
    const binary = `${folder}/out.so`;
    await cpu.compiler(info.arch).compile({ source, defines }, binary);
    await use(binary);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

Deno.test("cpu.compiler() says in one line what was tried", () => {
  const none = cpuBackend({ compilers: ["no-such-cc", "no-such-gcc"] });
  throws(
    () => none.compiler(info.arch),
    failure("compile", /tried no-such-cc, no-such-gcc; install/),
  );
});

Deno.test({
  name: "cpu.compiler() does not wait for one that hangs",
  ignore: Deno.build.os === "windows",
  async fn() {
    const folder = await Deno.makeTempDir();
    const name = `${folder}/cc`;
    await Deno.writeTextFile(name, "#!/bin/sh\nsleep 30; true\n");
    await Deno.chmod(name, 0o755);
    const hung = cpuBackend({ compilers: [name], patienceMs: 300 });
    throws(
      () => hung.compiler(info.arch),
      failure(
        "compile",
        /^cc --version did not end within 0\.3 s and was kill/,
      ),
    );
    await Deno.remove(folder, { recursive: true });
  },
});

Deno.test("cpu.compiler() wants a cross compiler for another architecture", () => {
  throws(
    () => cpu.compiler("riscv128"),
    failure("compile", /riscv128.*tried riscv128-linux-gnu-gcc/),
  );
});

Deno.test(
  `cpu.compiler() names the tool and its version${skip}`,
  needsCompiler,
  () => {
    ok(/^\w[\w-]* \d+\.\d+/.test(cpu.compiler(info.arch).signature));
  },
);

Deno.test(
  `compile() fails with the first error, the log as cause${skip}`,
  needsCompiler,
  async () => {
    await rejects(
      withBinary(
        "int f(void) { return missing; }\nint g(void) { return lost; }",
        () => {},
      ),
      (error) => {
        failure("compile", /^a b\.c:1:\d+: error: .*missing/)(error);
        const log = (error as CaseError).cause;
        ok(typeof log === "string" && log.includes("lost"), `${log}`);
        return true;
      },
    );
  },
);
