import { assertEquals, assertMatch } from "@std/assert";
import { cxxTest } from "../../backends/testdata/mocks.ts";
import { program, testdata } from "../testdata/program.ts";

const ON = "--device emulator:sm_90a --suite epilogue-bf16 --m 19 --k 64";

cxxTest("check --device emulator:sm_90a checks a kernel", async () => {
  const { code, stdout, stderr } = await program(
    `check ${ON} --kernel cluster-k --json`.split(" "),
  );
  assertEquals(code, 0, stderr);
  const rows = stdout.trim().split("\n").map((line) => JSON.parse(line));
  assertEquals(rows.length, 1);
  const [{ kernel, status, device, arch, m, k }] = rows;
  assertEquals(
    [kernel, status, device, arch, m, k].join(", "),
    "cluster-k, checked, emulator sm_90a, sm_90a, 19, 64",
  );
  assertMatch(
    stderr,
    /^cuda: taken, emulator sm_90a \(sm_90a, driver emulator /,
  );
});

cxxTest(
  "check on an emulated device finds a race in a user's kernel",
  async () => {
    const suite = testdata("raced_suite.ts");
    const { code, stdout, stderr } = await program(
      `check --device emulator:sm_90a --suite ${suite} --m 8 --k 32`.split(" "),
    );
    assertEquals(code, 1);
    assertEquals(stdout, "2 cases: 1 right, 1 failed, 0 unsupported\n");
    assertMatch(
      stderr,
      /FAIL raced raced .*: a race in global memory at byte \d+/,
    );
  },
);

cxxTest("bench --once runs a kernel on an emulated device", async () => {
  const { code, stdout, stderr } = await program(
    `bench --once ${ON} --kernel cluster-k`.split(" "),
  );
  assertEquals(code, 0, stderr);
  assertMatch(
    stdout,
    /^epilogue-bf16 cluster-k 19×19×64 nn epilogue=relu: checked$/m,
  );
});

Deno.test("check on an emulated device without a C++ compiler is one line", async () => {
  const { code, stderr } = await program(`check ${ON}`.split(" "), {
    env: { PATH: "/nowhere" },
  });
  assertEquals(code, 3);
  assertMatch(
    stderr,
    /^error: The lane emulator needs a C\+\+ compiler: tried c\+\+, g\+\+, clang\+\+; install one, as in apt-get install g\+\+\n$/,
  );
});
