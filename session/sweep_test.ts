import { deepStrictEqual, ok, strictEqual } from "node:assert/strict";
import { fileURLToPath } from "node:url";
import { DEFAULTS, type Row, select, sweep } from "mnkbench/session";

const SUITE = fileURLToPath(
  new URL("../cli/testdata/small_suite.ts", import.meta.url),
);

Deno.test("sweep() measures, keeps and publishes without a command line", async () => {
  const folder = await Deno.makeTempDir();
  try {
    const selected = await select({
      ...{ suites: [SUITE], kernels: [], quick: false },
      overrides: {},
      where: {},
      ...{ backend: "cpu", device: 0 },
    });
    const seen: Row[] = [];
    const lines: string[] = [];
    const { rows, paths, kept } = await sweep(
      selected,
      {
        ...{ ...DEFAULTS, warmup: 0.1, rep: 0.5 },
        cacheDir: `${folder}/kernels`,
      },
      {
        ...{ runs: 1, out: `${folder}/out`, fresh: false, resume: false },
        ...{ timeout: 60, signal: new AbortController().signal },
        unfinished: `${folder}/runs`,
        observer: {
          note: (text) => lines.push(text),
          row: (row) => seen.push(row),
          progress: () => ({
            update() {},
            print: (line) => lines.push(line),
            [Symbol.dispose]() {},
          }),
        },
      },
    );
    strictEqual(rows.length, selected.cases.length);
    strictEqual(kept, rows.length);
    deepStrictEqual(rows.map(({ key }) => key), seen.map(({ key }) => key));
    const statuses = rows.map(({ key, status }) => `${key.kernel} ${status}`);
    deepStrictEqual(
      new Set(statuses),
      new Set(["naive ok", "zeros wrong", "picky unsupported"]),
    );
    // Each failure is said once, with its case.
    strictEqual(lines.filter((line) => line.startsWith("FAIL")).length, 4);
    for (const path of paths) ok((await Deno.stat(path)).isFile);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
});
