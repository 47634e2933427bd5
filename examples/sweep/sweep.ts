/**
 * Prints the fastest CPU kernel at each size of a sweep, as tab-separated values:
 *
 *     deno run -A examples/sweep/sweep.ts 16,32,64 1024,4096
 *
 * The rows, with all their columns, are in `results/` of the current folder.
 */

import { DEFAULTS, type Row, select, sweep } from "mnkbench/session";

const [m = [16], k = [1024]] = Deno.args.map((list) =>
  list.split(",").map(Number)
);

const selected = await select({
  suites: ["matmul-fp32"],
  kernels: ["openblas", "decompose-k"],
  overrides: { m, k },
  where: {},
  quick: false,
  backend: "cpu",
  device: 0,
});

const { rows } = await sweep(selected, { ...DEFAULTS, cacheDir: ".cache" }, {
  runs: 1,
  out: "results",
  fresh: true,
  resume: false,
  timeout: 60,
  signal: AbortSignal.timeout(10 * 60_000),
  observer: {
    note: (text) => console.error(text),
    row: ({ key, status }) =>
      console.error(`${key.kernel} ${key.m} ${key.k}: ${status}`),
    progress: () => ({
      update() {},
      print: (line) => console.error(line),
      [Symbol.dispose]() {},
    }),
  },
});

const bySize = Map.groupBy(rows, ({ key }: Row) => `${key.m}\t${key.k}`);
console.log("m=n\tk\tkernel\tmedian_us");
for (const [size, all] of bySize) {
  const timed = all.filter((row) => row.status === "ok");
  const [best] = timed.toSorted((a, b) =>
    a.figures.median_us - b.figures.median_us
  );
  console.log(
    best === undefined
      ? `${size}\t\t`
      : `${size}\t${best.key.kernel}\t${best.figures.median_us.toFixed(2)}`,
  );
}
