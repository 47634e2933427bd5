import { assertEquals, assertMatch } from "@std/assert";
import { join } from "node:path";
import { program, within } from "../cli/testdata/program.ts";
import { withSuite } from "./testdata/odd_suite.ts";

const SMALL = new URL("../cli/testdata/small_suite.ts", import.meta.url);

const ODD: readonly (readonly [string, string, RegExp])[] = [
  [
    "has an error of syntax",
    "const a = {\n  b: 1 c\n};",
    /odd\.ts:\d+:8: Synta/m,
  ],
  ["rejects later", 'Promise.reject(new Error("later"));', /: later$/m],
  ["rejects with a text", 'Promise.reject("a text");', /: a text$/m],
  ["throws an object", "throw { a: 1 };", /: \{"a":1\}$/m],
  [
    "throws an object that is no JSON",
    "throw { a: 1n };",
    /: an object that is no error$/m,
  ],
  [
    "throws in a timer",
    'setTimeout(() => { throw new Error("tick"); }, 0);',
    /: tick$/m,
  ],
  [
    "ends the program",
    "Deno.exit(0);",
    /: it ends the program; leave out Den/m,
  ],
  [
    "ends the program once it is loaded",
    "setTimeout(() => Deno.exit(0), 0);",
    /: it ends the program; leave out Den/m,
  ],
  [
    "downloads in a worker",
    `if (Deno.mainModule.includes("worker")) {
  await import("https://example.org/none.ts");
}`,
    /: it imports https:\/\/example\.org\/none\.ts, which is not on this machine/m,
  ],
  [
    "prints after its trial",
    'if (!Deno.mainModule.includes("suite_trial")) console.log("hello");',
    /: it prints "hello" while it is loaded; leave out console\.log\(\)/m,
  ],
  [
    "freezes built-in objects after its trial",
    'if (!Deno.mainModule.includes("suite_trial")) Object.freeze(Array.prototype);',
    /: it changes or freezes built-in objects; leave them as they are$/m,
  ],
  [
    "ends a worker",
    'if (Deno.mainModule.includes("worker")) Deno.exit(0);',
    /: it ends the program; leave out Den/m,
  ],
];

for (const [what, code, why] of ODD) {
  Deno.test(`importSuite() has one line for a file that ${what}`, () =>
    withSuite(code, async (file, cwd) => {
      // Takes long enough for whatever comes later.
      const args = ["bench", "--suite", file, "--backend", "cpu", "--quick"];
      const { code, stderr } = await program(args, { cwd });
      assertEquals(code, 2, stderr);
      assertMatch(
        stderr,
        /^error: Cannot (load|use) the suite file .*odd\.ts(:\d+:\d+)?: /m,
      );
      assertMatch(stderr, why);
      assertEquals(stderr.includes("    at "), false, stderr);
    }));
}

const LOOPS: readonly (readonly [string, readonly string[], number])[] = [
  [
    'if (Deno.mainModule.includes("worker")) for (;;);',
    ["check", "--backend", "cpu", "--m", "2"],
    2,
  ],
  ['if (!Deno.mainModule.includes("suite_trial")) for (;;);', ["list"], 137],
];

Deno.test("importSuite() ends a file that loops after its trial", () =>
  Promise.all(
    LOOPS.map(([what, args, expected]) =>
      withSuite(what, async (file, cwd) => {
        const ran = await program([...args, "--suite", file], { cwd });
        assertEquals(ran.code, expected, ran.stderr);
        assertMatch(
          ran.stderr,
          /^error: Cannot load the suite file .*: it did not end within 21 s; do not .*$/m,
        );
      })
    ),
  ).then(() => {}));

Deno.test("a suite file whose name differs between processes has one line", async () => {
  const folder = await Deno.makeTempDir();
  try {
    const file = join(folder, "drift.ts");
    const text = `import small from "${SMALL}";
export default { ...small, name: "drift" + Deno.pid };
`;
    await Deno.writeTextFile(file, text);
    const args = ["check", "--suite", file, "--backend", "cpu", "--m", "2"];
    const { code, stderr } = await program(args, { cwd: folder });
    assertEquals(code, 2, stderr);
    assertMatch(
      stderr,
      /^error: Cannot find the suite \w+ again: a suite file has another name each time/m,
    );
    assertEquals(stderr.includes("    at "), false, stderr);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
});

/** Loads the file of the first argument within as many milliseconds as the second. */
const LOAD = `import { importSuite } from "${new URL(
  "suite_file.ts",
  import.meta.url,
)}";
const [file, ms] = Deno.args;
await importSuite(file, Number(ms)).catch((error) => console.log(String(error)));
// A module that waits for ever keeps the program from an end of its own.
Deno.exit(0);`;

Deno.test("importSuite() does not wait for ever", () =>
  withSuite("await new Promise(() => {});", async (file) => {
    // In a program of its own: what never ends would be held against the tests.
    const { stdout } = await new Deno.Command(Deno.execPath(), {
      args: ["eval", LOAD, file, "300"],
    }).output();
    assertMatch(
      new TextDecoder().decode(stdout),
      /^UserError: Cannot load the suite file .*: it did not end within 0\.3 s; do not/,
    );
  }));

/** Calls functions for longer than the limit in all, then one that never returns. */
const CALL = `import { importSuite, limitCalls, onFatal } from "${new URL(
  "suite_file.ts",
  import.meta.url,
)}";
import { callSuite } from "${new URL("suite_calls.ts", import.meta.url)}";
onFatal(() => Deno.exit(1), { to: "stdout", text: (message) => message });
await limitCalls(1); // without a file there is nothing to limit
await importSuite(Deno.args[0]);
let isFree = true;
await limitCalls(1000, () => isFree);
const busy = (ms) => {
  for (const start = performance.now(); performance.now() - start < ms;);
};
callSuite(() => busy(1100));
isFree = false;
callSuite(() => [1, 2, 3].forEach(() => callSuite(() => busy(400))));
busy(1100);
console.log("returned");
callSuite(() => busy(Infinity));`;

Deno.test("limitCalls() ends the program where one call does not return", () =>
  withSuite("", async (file) => {
    const { code, stdout } = await new Deno.Command(Deno.execPath(), {
      args: ["eval", CALL, file],
    }).output();
    assertEquals(
      new TextDecoder().decode(stdout),
      `returned\nCannot use the suite file ${file}: a function of it did not return within 1 s; do not loop in it for anything that may not come`,
    );
    assertEquals(code, 137);
  }));

Deno.test("a function of a kernel that ends the program gets a row of its own", () =>
  within(async (run, folder) => {
    const text =
      `import { defineKernel, defineSuite, kernels, matmul } from "mnkbench";
const { prepare } = kernels.find(({ name, backend }) =>
  name === "naive" && backend === "cpu"
);
const exits = { prepare() { Deno.exit(0); } };
const own = (name, more) =>
  defineKernel(matmul, { name, backend: "cpu", idea: "-", prepare, ...more });
export default defineSuite({
  name: "odd",
  title: "-",
  op: matmul,
  axes: { m: [2], k: [8] },
  tie: { n: "m" },
  fixed: { type: "f32" },
  kernels: [own("exits", exits), own("right")],
  baselines: [],
});`;
    await Deno.writeTextFile(join(folder, "odd.ts"), text);
    const { code, stdout, stderr } = await run(
      ...["bench", "--suite", "./odd.ts", "--backend", "cpu", "--json"],
      ...["--warmup", "0", "--rep", "1"],
    );
    assertEquals(code, 1, stderr);
    const rows = stdout.trimEnd().split("\n").map((line) => JSON.parse(line));
    assertEquals(
      rows.map(({ kernel, status }) => [kernel, status]),
      [["exits", "crash"], ["right", "ok"]],
    );
    assertMatch(
      rows[0].note,
      /^The worker exited with code 2 \(Cannot use the suite file .*odd\.ts: it ends the program; leave out Deno\.exit\(\)\)$/,
    );
  }));
