import { deepStrictEqual, match, strictEqual } from "node:assert/strict";
import { csvRow, placed } from "../../../report/testdata/csv_rows.ts";
import { withoutUnmeasuredPeers } from "./unmeasured_peers.ts";

const ours = { kernel: "cublas", backend: "cuda" };
const peer = { kernel: "torch-eager", backend: "cuda" };
const other = { suite: "other" };

/** The kernels of BASE that are left beside NEW, and what is said. */
function left(
  base: readonly Parameters<typeof csvRow>[0][],
  next: readonly Parameters<typeof csvRow>[0][],
) {
  const { rows, note } = withoutUnmeasuredPeers(
    base.map((row) => placed(row)),
    next.map((row) => placed(row)),
  );
  return { kernels: rows.map(({ row }) => row.kernel), note };
}

Deno.test("withoutUnmeasuredPeers() drops peers where NEW has none, and says so", () => {
  const { kernels, note } = left([ours, peer], [ours]);
  deepStrictEqual(kernels, ["cublas"]);
  match(note!, /^1 rows of peers are not compared, .*: add --peers torch/);
});

Deno.test("withoutUnmeasuredPeers() keeps peers of a run with peers, and of a suite that was not run", () => {
  const all = ["cublas", "torch-eager"];
  const triton = { ...peer, kernel: "triton-decompose-k" };
  for (const next of [[ours, triton], [{ ...ours, ...other }], []]) {
    const { kernels, note } = left([ours, peer], next);
    deepStrictEqual(kernels, all);
    strictEqual(note, undefined);
  }
});

Deno.test("withoutUnmeasuredPeers() takes no kernel of another backend for a peer", () => {
  const { kernels } = left([{ ...peer, backend: "cpu" }], [ours]);
  deepStrictEqual(kernels, ["torch-eager"]);
});
