import { assertEquals, assertMatch, assertRejects } from "@std/assert";
import { UserError } from "../bench/model/errors.ts";
import { trySuite } from "./suite_trial.ts";
import { withSuite } from "./testdata/odd_suite.ts";

/** Code before a good suite, and the end of the line about it. */
const REFUSED: readonly (readonly [string, string, RegExp])[] = [
  [
    "imports a URL",
    'import "https://example.org/none.ts";',
    /: it imports https:\/\/example\.org\/none\.ts, which is not on this machine, and nothing is downloaded; save it as a file and import that$/,
  ],
  [
    "imports a package",
    'import "npm:mnkbench-is-no-package@1.0.0";',
    /: it imports mnkbench-is-no-package, which is not on this machine,/,
  ],
  [
    "imports a package later",
    'await import("npm:mnkbench-is-no-package@1.0.0");',
    /: it imports mnkbench-is-no-package, which is not on this machine,/,
  ],
  [
    "imports a file that is not there",
    'import "./none.ts";',
    /: Module not found "file:.*none\.ts"/,
  ],
  [
    "runs a program",
    'new Deno.Command("ls").outputSync();',
    /:1:\d+: it needs run access to "ls", and it may only read while it is loaded; leave that to a function of its kernel$/,
  ],
  [
    "writes",
    'Deno.writeTextFileSync(new URL("planted", import.meta.url), "");',
    /: it needs write access to ".*planted", and it may only read/,
  ],
  [
    "loads a library",
    'Deno.dlopen("libc.so.6", {});',
    /: it needs ffi access to "libc\.so\.6", and it may only read/,
  ],
  [
    "uses the network",
    'await fetch("https://example.org");',
    /: it needs net access to "example\.org:443", and it may only read/,
  ],
  [
    "prints",
    'console.log("\\x1b[31mred\\nand more");',
    /: it prints "\\u001b\[31mred" while it is loaded; leave out console\.log\(\) and console\.error\(\)$/,
  ],
  [
    "prints on standard error",
    'const text = "\\x1b]0;title\\x07" + "x".repeat(99);\nDeno.stderr.writeSync(new TextEncoder().encode(text));',
    /: it prints "\\u001b\]0;title\\u0007x{30}" while it is loaded; leave/,
  ],
  ["keeps a timer", "setInterval(() => {}, 10);", /: it keeps a timer, a Wo/],
  [
    "keeps a Worker",
    'new Worker("data:application/javascript,onmessage=()=>{}", { type: "module" });',
    /: it keeps a timer, a Worker or a file at work; end what it starts$/,
  ],
  [
    "freezes what all objects have",
    "Object.freeze(Object.prototype);",
    /: it changes or freezes built-in objects; leave them as they are$/,
  ],
  [
    "closes the global object",
    "Object.preventExtensions(globalThis);",
    /: it changes or freezes built-in objects; leave them as they are$/,
  ],
  ["throws", 'throw new Error("no\\nmore");', /:1:7: no$/],
  ["ends its process", "Deno.exit(0);", /: it ends the program; leave out D/],
  [
    "kills its process",
    'import { kill } from "node:process";\nkill(Deno.pid, "SIGKILL");',
    /: its process ended with code \d+$/,
  ],
  [
    "throws once it is loaded",
    'setTimeout(() => { throw new Error("tick"); }, 0);',
    /:1:\d+: tick$/,
  ],
];

for (const [what, code, why] of REFUSED) {
  Deno.test(`trySuite() has one line for a file that ${what}`, () =>
    withSuite(code, async (file, folder) => {
      const { message } = await assertRejects(() => trySuite(file), UserError);
      assertMatch(
        message,
        /^Cannot (load|use) the suite file \S*odd\.ts(:\d+:\d+)?: /,
      );
      assertMatch(message, why);
      assertEquals(message.includes("\n"), false, message);
      assertEquals([...Deno.readDirSync(folder)].length, 1);
    }));
}

for (const code of ["for (;;);", "await new Promise(() => {});"]) {
  Deno.test(`trySuite() ends a file with ${code}`, () =>
    withSuite(code, async (file) => {
      const { message } = await assertRejects(
        () => trySuite(file, 300),
        UserError,
      );
      assertMatch(message, /: it did not end within 0\.3 s; do not loop or/);
    }));
}

Deno.test("trySuite() takes a file that only defines a suite", () =>
  withSuite(
    "Deno.readTextFileSync(new URL(import.meta.url));",
    (file) => trySuite(file, 60_000),
  ));
