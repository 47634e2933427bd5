import { deepStrictEqual, ok, strictEqual, throws } from "node:assert/strict";
import { askTool } from "./ask_tool.ts";

const windows = Deno.build.os === "windows";
const skip = windows ? " (ignored: needs a shell)" : "";

Deno.test({
  name: `askTool() gives what a tool prints${skip}`,
  ignore: windows,
  fn() {
    deepStrictEqual(askTool("/bin/sh", ["-c", "echo a; echo b >&2; exit 1"]), {
      success: false,
      stdout: "a\n",
      stderr: "b\n",
    });
  },
});

Deno.test("askTool() gives nothing where there is no such tool", () => {
  strictEqual(askTool("no-such-tool", ["--version"]), undefined);
});

Deno.test({
  name: `askTool() waits once for a tool that hangs${skip}`,
  ignore: windows,
  fn() {
    const ask = () => askTool("/bin/sh", ["-c", "sleep 9; true"], 300);
    const why = {
      failure: "compile",
      message: /^sh -c .* did not end within 0\.3 s and was killed; mend it/,
    };
    throws(ask, why);
    const start = performance.now();
    throws(ask, why);
    ok(performance.now() - start < 250, "it was waited for again");
  },
});
