/**
 * Prints the fastest CPU kernel at each size of a sweep, as tab-separated values:
 *
 *     deno run -A examples/sweep/sweep.ts 16,32,64 1024,4096
 *
 * The rows, with all their columns, are in `results/` of the current folder.
 */

import { bench } from "mnkbench";

const [m = [16], k = [1024]] = Deno.args.map((list) =>
  list.split(",").map(Number)
);

const { rows } = await bench({
  suites: ["matmul-fp32"],
  kernels: ["openblas", "decompose-k"],
  axes: { m, k },
  backend: "cpu",
  out: "results",
  signal: AbortSignal.timeout(10 * 60_000),
  onEvent: (event) => event.event === "note" && console.error(event.text),
});

console.log("m=n\tk\tkernel\tmedian_us");
for (const own of Map.groupBy(rows, ({ m, k }) => `${m}\t${k}`).values()) {
  const [best] = own.filter((row) => row.status === "ok")
    .toSorted((a, b) => a.median_us - b.median_us);
  const { m, k } = own[0]!;
  console.log(
    [m, k, best?.kernel, best?.median_us.toFixed(2)].join("\t"),
  );
}
