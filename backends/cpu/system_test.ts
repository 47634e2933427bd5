import { assert, assertEquals, assertMatch } from "@std/assert";
import { cpuBackend } from "./cpu.ts";
import { cpuSystem, lastLevelCache } from "./system.ts";

/** What a program prints, and what it was asked. */
function printing(stdout: string) {
  const asked: string[] = [];
  return {
    asked,
    ask(program: string, args: readonly string[]) {
      asked.push(program, ...args);
      return { success: true, code: 0, stdout, stderr: "" };
    },
  };
}

Deno.test("cpuBackend() of macOS makes dylibs by clang's own options", () => {
  const { extension, flags } = cpuBackend({ os: "darwin" }).target("aarch64");
  assertEquals(extension, "dylib");
  assert(flags.includes("-dynamiclib"));
  assert(!flags.includes("-shared") && !flags.includes("-pthread"));
});

Deno.test("cpuBackend() says how to install what its system lacks", () => {
  const bare = { compilers: ["nosuchcc"], libraries: ["libnosuchblas.so"] };
  const lacks = (os: string, kernel: string) =>
    cpuBackend({ ...bare, os }).lacks!(new Set([kernel])).join("\n");
  assertMatch(
    lacks("darwin", "openblas"),
    /: xcode-select --install\n.*: brew/,
  );
  assertMatch(
    lacks("linux", "openblas"),
    /: apt-get .*gcc.*\n.*: apt-get .*blas/,
  );
  // Nobody compares with it.
  assert(!lacks("linux", "naive").includes("OpenBLAS"));
});

Deno.test("lastLevelCache() is the largest that the system tells", () => {
  const read = (paths: readonly string[]) => {
    assertMatch(paths.join(), /^\/sys\//);
    return "32K\n32K\n1024K\n64M\n";
  };
  assertEquals(lastLevelCache(cpuSystem("linux"), { read }), 64 << 20);
  // A Mac with Apple silicon has no L3: the variable is not there.
  const sysctl = printing("16777216\n4194304\n");
  assertEquals(lastLevelCache(cpuSystem("darwin"), sysctl), 16 << 20);
  assertEquals(sysctl.asked.slice(0, 2), ["sysctl", "-n"]);
  assertEquals(lastLevelCache(cpuSystem("darwin"), printing("")), 32 << 20);
});
