import {
  deepStrictEqual,
  rejects,
  strictEqual,
  throws,
} from "node:assert/strict";
import { build, ccTest } from "../../testdata/mocks.ts";
import { openChecked } from "./checked.ts";

const DEFINITIONS = {
  refuse: { parameters: ["i32"], result: "i32" },
  late: {
    name: "refuse",
    parameters: ["i32"],
    result: "i32",
    nonblocking: true,
  },
  renamed: { name: "refuse", parameters: ["i32"], result: "i32" },
  release: { name: "refuse", parameters: ["i32"], result: "i32" },
  plain: { name: "refuse", parameters: ["i32"], result: "u32" },
  absent: { parameters: [], result: "i32", optional: true },
} as const satisfies Deno.ForeignLibraryInterface;

function open() {
  return openChecked(build("librefuse.so", ["refuse.c"]), DEFINITIONS, {
    releasing: ["release"],
    explain: (_, status) => status === 8 ? { name: "EIGHT" } : { text: "no" },
    failure: (status) => status === 8 ? "oom" : "launch",
  });
}

ccTest("openChecked() throws a bad status under the name that C has", () => {
  const library = open();
  strictEqual(library.refuse(0), undefined);
  throws(() => library.refuse(7), {
    name: "CallError",
    failure: "launch",
    message: "refuse: status 7: no",
  });
  throws(() => library.renamed(8), {
    failure: "oom",
    message: "refuse: EIGHT (8)",
  });
});

ccTest(
  "openChecked() rejects a bad status of a call on another thread",
  async () => {
    const library = open();
    await library.late(0);
    await rejects(library.late(9), /^CallError: refuse: status 9: no$/);
  },
);

ccTest("openChecked() ignores the status of what only gives back", () => {
  strictEqual(open().release(7), undefined);
});

ccTest(
  "openChecked() leaves alone what is no status, and what is missing",
  () => {
    const library = open();
    deepStrictEqual([library.plain(7), library.absent], [7, null]);
  },
);
