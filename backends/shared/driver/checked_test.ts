import {
  deepStrictEqual,
  rejects,
  strictEqual,
  throws,
} from "node:assert/strict";
import { openChecked } from "./checked.ts";

/** Its `abs` stands for a function that returns the status that it is given. */
const LIBC = Deno.build.os === "darwin" ? "libSystem.dylib" : "libc.so.6";

const DEFINITIONS = {
  refuse: { name: "abs", parameters: ["i32"], result: "i32" },
  late: {
    name: "abs",
    parameters: ["i32"],
    result: "i32",
    nonblocking: true,
  },
  renamed: { name: "abs", parameters: ["i32"], result: "i32" },
  release: { name: "abs", parameters: ["i32"], result: "i32" },
  plain: { name: "abs", parameters: ["i32"], result: "u32" },
  absent: { parameters: [], result: "i32", optional: true },
} as const satisfies Deno.ForeignLibraryInterface;

function open() {
  return openChecked(LIBC, DEFINITIONS, {
    releasing: ["release"],
    explain: (_, status) => status === 8 ? { name: "EIGHT" } : { text: "no" },
    failure: (status) => status === 8 ? "oom" : "launch",
  });
}

Deno.test("openChecked() throws a bad status under the name that C has", () => {
  const library = open();
  strictEqual(library.refuse(0), undefined);
  throws(() => library.refuse(7), {
    name: "CallError",
    failure: "launch",
    message: "abs: status 7: no",
  });
  throws(() => library.renamed(8), {
    failure: "oom",
    message: "abs: EIGHT (8)",
  });
});

Deno.test(
  "openChecked() rejects a bad status of a call on another thread",
  async () => {
    const library = open();
    await library.late(0);
    await rejects(library.late(9), /^CallError: abs: status 9: no$/);
  },
);

Deno.test("openChecked() ignores the status of what only gives back", () => {
  strictEqual(open().release(7), undefined);
});

Deno.test(
  "openChecked() leaves alone what is no status, and what is missing",
  () => {
    const library = open();
    deepStrictEqual([library.plain(7), library.absent], [7, null]);
  },
);
