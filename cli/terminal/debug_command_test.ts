import { match, strictEqual } from "node:assert/strict";
import { DEFAULTS } from "../../bench/model/settings.ts";
import type { Key, Row } from "../../bench/row/row.ts";
import { timedRow } from "../../bench/testdata/rows.ts";
import suite from "../testdata/fault_suite.ts";
import { debugLine } from "./debug_command.ts";

const TOLD = {
  selection: {
    suites: ["./faults.ts"],
    kernels: [],
    backend: "cpu",
    device: 0,
    points: "all",
    overrides: {},
    where: {},
  },
  suites: [suite],
  settings: { ...DEFAULTS, cacheDir: "/cache" },
} as const;

function said(
  status: "crash" | "launch" | "wrong",
  { note = "", ...key }: Partial<Key> & { note?: string } = {},
): string | undefined {
  const { figures: _, accuracy: __, ...row } = timedRow("segfault");
  const failed = {
    ...row,
    ...{ status, note },
    key: {
      ...row.key,
      ...{ suite: "faults", backend: "cpu", m: "8", n: "8", k: "32" },
      ...{ params: "epilogue=none", ...key },
    },
  } as Row;
  return debugLine(failed, TOLD);
}

Deno.test("debugLine() runs a case that crashed in the debugged process itself", () => {
  match(
    said("crash")!,
    /: (gdb -ex run --args|lldb -o run --) \S*deno\S* run -A \S+\/cli\/main\.ts bench --suite \.\/faults\.ts --backend cpu .*--kernel segfault --m 8 --n 8 --k 32 --once$/,
  );
});

Deno.test("debugLine() names a sanitizer for a fault on the device", () => {
  const note = "Cannot wait: CUDA_ERROR_ILLEGAL_ADDRESS (700)";
  match(
    said("launch", { note, backend: "cuda" })!,
    /: compute-sanitizer --target-processes all .* bench .*--kernel segfault .*--once$/,
  );
  strictEqual(
    said("launch", { note: "Cannot load x: no such entry", backend: "cuda" }),
    undefined,
  );
});

Deno.test("debugLine() says nothing of other failures, and where --once would refuse", () => {
  strictEqual(said("wrong"), undefined);
  strictEqual(said("crash", { kernel: "not-there" }), undefined);
  strictEqual(said("crash", { suite: "not-there" }), undefined);
});
