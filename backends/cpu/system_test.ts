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
  const sysfs = printing("32K\n32K\n1024K\n32M\n");
  assertEquals(lastLevelCache(cpuSystem("linux"), sysfs.ask), 32 << 20);
  assertEquals(sysfs.asked[0], "cat");
  // A Mac with Apple silicon has no L3: the variable is not there.
  const sysctl = printing("16777216\n4194304\n");
  assertEquals(lastLevelCache(cpuSystem("darwin"), sysctl.ask), 16 << 20);
  assertEquals(sysctl.asked.slice(0, 2), ["sysctl", "-n"]);
  assertEquals(lastLevelCache(cpuSystem("darwin"), printing("").ask), 32 << 20);
});
