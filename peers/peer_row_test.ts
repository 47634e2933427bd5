import { match, ok, strictEqual } from "node:assert/strict";
import { DEFAULTS } from "../bench/model/settings.ts";
import { encode } from "../bench/model/dtype.ts";
import groupedNvfp4 from "../suites/grouped-nvfp4.ts";
import { isPeer, withPeers } from "./peer_cases.ts";
import { type PeerContext, peerRow } from "./peer_row.ts";
import type { PeerTimed } from "./python_process.ts";

const list = { m: ["3+5"], n: [16], k: [64] };
const [, one] = [...withPeers(groupedNvfp4).cases("all", list)].filter(isPeer);
const reference = one!.problem.reference(
  one!.problem.inputs({ seed: 1, fill: "uniform" }),
);
const right = [reference.all(0), reference.all(1)];

const context: PeerContext = {
  place: { device: "fake", arch: "sm_90a" },
  driver: "",
  settings: { ...DEFAULTS, timer: "graph", cacheDir: "" },
  run: "r",
  harness: "",
  flushBytes: 0,
  calibration: undefined,
  torch: "2.0",
  triton: "3.0",
  sourceHash: () => "",
  date: () => "",
};
const told: PeerTimed = {
  event: "result",
  status: "ok",
  id: 0,
  config: {},
  tried: 0,
  search_ms: 0,
  changed: null,
  outputs: ["", "", ""],
  samples: Array.from({ length: 64 }, () => 5000),
  spent_ms: 1,
  chosen_ms: 1,
  cached: false,
  telemetry: {},
};

/** The row of a peer that stores `values` as bf16. */
function rowOf(values: readonly Float64Array[]) {
  const [a, b] = values.map((list) => encode(list, "bf16"));
  const bytes = new Uint8Array([...a!, ...b!]);
  return peerRow(one!, context, {
    told,
    outputs: [bytes, bytes, bytes],
    right,
  });
}

Deno.test("peerRow() checks all outputs in the type that the peer has, and says so", () => {
  strictEqual(one!.kernel, "torch-grouped-mm");
  const row = rowOf(right);
  strictEqual(row.status, "ok");
  match(row.note, /results are bf16/);
  ok(row.status === "ok" && row.accuracy.deterministic);
  const off = rowOf([right[0]!, right[1]!.map((x) => x + 100)]);
  strictEqual(off.status, "wrong");
  match(off.note, /^C1: 80 of 80 elements mismatch/);
});
