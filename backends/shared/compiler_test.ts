import { match, ok, rejects, strictEqual, throws } from "node:assert/strict";
import { join } from "node:path";
import { ended } from "../../bench/testdata/supervised.ts";
import { askTool, compileError, runCompiler } from "./compiler.ts";

const windows = Deno.build.os === "windows";
const skip = windows ? " (ignored: needs a shell)" : "";

/** Runs a shell script as a compiler. */
async function compileBy(script: string, limitMs = 10_000): Promise<string> {
  const folder = await Deno.makeTempDir();
  const binary = join(folder, "out");
  try {
    return await runCompiler("/bin/sh", {
      args: ["-c", script, "sh", binary],
      binary,
      folder: `${folder}/`,
      limitMs,
    });
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

const WRONG: readonly (readonly [string, string, RegExp])[] = [
  ["wrote nothing", "exit 0", /^sh reported success and wrote no binary/],
  ["wrote an empty file", ': > "$1"', /^sh reported success and wrote no/],
  [
    "wrote garbage",
    'echo hello > "$1"',
    /^sh wrote something that is no binary \(it starts with 68656c6c\)/,
  ],
  [
    "hangs",
    "exec sleep 20",
    /^sh did not end within 0\.2 s and was killed/,
  ],
  [
    "hangs in a child of its own",
    "sleep 2; true",
    /^sh did not end within 0\.2 s and was killed/,
  ],
  ["fails", "echo 'k.c:1: error: no' >&2; exit 1", /^k\.c:1: error: no$/],
];

for (const [what, script, message] of WRONG) {
  Deno.test({
    name: `runCompiler() refuses one that ${what}${skip}`,
    ignore: windows,
    async fn() {
      const limitMs = what.startsWith("hangs") ? 200 : 10_000;
      await rejects(compileBy(script, limitMs), {
        name: "CaseError",
        failure: "compile",
        message,
      });
    },
  });
}

Deno.test({
  name: `runCompiler() leaves none behind of what a hanging one started${skip}`,
  ignore: windows,
  async fn() {
    const file = await Deno.makeTempFile();
    // As cc starts cc1: the one that hangs is its child.
    const script = `sh -c 'sleep 600; true' & echo $! > ${file}; wait`;
    await rejects(compileBy(script, 2_000), { failure: "compile" });
    const pid = (await Deno.readTextFile(file)).trim();
    await Deno.remove(file);
    match(pid, /^\d+$/);
    ok(await ended(Number(pid)), "what it started lives");
  },
});

Deno.test({
  name: `runCompiler() hands on what was printed${skip}`,
  ignore: windows,
  async fn() {
    const script = `printf '\\177ELF' > "$1"; echo a warning >&2`;
    strictEqual(await compileBy(script), "a warning\n");
  },
});

Deno.test({
  name: `runCompiler() has temporary files beside the binary${skip}`,
  ignore: windows,
  async fn() {
    const script = `printf '\\177ELF' > "$1"; echo "$TMPDIR/out $1"`;
    const [one, other] = (await compileBy(script)).trim().split(" ");
    strictEqual(one, other);
  },
});

Deno.test("runCompiler() says that a program cannot be run", async () => {
  await rejects(
    runCompiler("no-such-compiler", { args: [], binary: "x", folder: "/" }),
    { failure: "compile", message: /^no-such-compiler cannot be run: / },
  );
});

Deno.test({
  name: `askTool() gives what a tool prints${skip}`,
  ignore: windows,
  fn() {
    const answer = askTool("/bin/sh", ["-c", "echo a; echo b >&2; exit 1"]);
    strictEqual(answer?.success, false);
    strictEqual(answer.stdout, "a\n");
    strictEqual(answer.stderr, "b\n");
  },
});

Deno.test("askTool() gives nothing where there is no such tool", () => {
  strictEqual(askTool("no-such-tool", ["--version"]), undefined);
});

Deno.test({
  name: `askTool() waits once for a tool that hangs${skip}`,
  ignore: windows,
  fn() {
    const file = Deno.makeTempFileSync();
    const script = `echo >> ${file}; sleep 9; true`;
    const ask = () => askTool("/bin/sh", ["-c", script], 300);
    const why = {
      failure: "compile",
      message: /^sh -c .* did not end within 0\.3 s and was killed; repair it/,
    };
    throws(ask, why);
    throws(ask, why);
    // A slow machine may end it before its first line.
    ok(Deno.readTextFileSync(file).length < 2, "it was started again");
    Deno.removeSync(file);
  },
});

Deno.test("compileError() blames the source for what the emulator's header shows", () => {
  const header = new URL("../../emulator/api/floats.h", import.meta.url);
  const log = (more: string) =>
    `${header.pathname}:96:10: error: no end
all.cpp:2:1: note: in expansion of macro 'EMU_ENTRY'
${more}`;
  const note = "/k/a.cu:9:82: note: to match this '{'";
  const of = (text: string) => compileError(text, "/k/").message;
  strictEqual(of(log(note)), "a.cu:9:82: error: no end, to match this '{'");
  strictEqual(of(log(`${note}\n/k/a.cu:3:1: error: b`)), "a.cu:3:1: error: b");
  match(of(log("")), /floats\.h:96:10: error: no end$/);
});
