import { assert, assertEquals, assertMatch } from "@std/assert";
import { fake } from "../backends/fake/fake.ts";
import { JOB } from "../bench/testdata/jobs.ts";
import { termsOf } from "../bench/measure/precision.ts";
import { encode } from "../bench/model/dtype.ts";
import { isPeerCase, type PeerCase } from "../bench/model/peer.ts";
import groupedNvfp4 from "../suites/grouped-nvfp4.ts";
import { withPeers } from "./cases.ts";
import type { PeerTimed } from "./process.ts";
import { failedPeerRow, type PeerContext, peerRow } from "./row.ts";

const suite = withPeers(groupedNvfp4);
const list = { m: ["3+5"], n: [16], k: [64] };
const [eager, coarse] = [...suite.cases("all", list)].filter(isPeerCase);
const reference = eager!.problem.reference(
  eager!.problem.inputs({ seed: 1, fill: "uniform" }),
);
const right = [reference.all(0), reference.all(1)];

const backend = fake({ kernels: {} });
const context: PeerContext = {
  job: JOB,
  assigned: {
    backend,
    info: backend.find().devices[0]!,
    cases: [],
    harness: "",
  },
  calibration: undefined,
  torch: "2.0",
  triton: "3.0",
  hashes: () => ({ source_hash: "", code_hash: "" }),
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

type Bytes = Uint8Array<ArrayBuffer>;

/** Outputs as `type`, one after the other. */
function stored(
  values: readonly Float64Array[],
  type: "f16" | "bf16",
): Bytes {
  return new Uint8Array(values.flatMap((one) => [...encode(one, type)]));
}

/** The row of a case whose three outputs are `bytes`. */
function rowOf(c: PeerCase, bytes: Bytes) {
  const outputs = c.problem.operands.filter(({ role }) => role === "out");
  const { flops } = c.problem.work;
  return peerRow(c, context, {
    told,
    outputs: [bytes, bytes, bytes],
    right: { values: right, terms: termsOf(outputs, reference, flops) },
  });
}

Deno.test("peerRow() compares each of several outputs", () => {
  const bytes = stored(right, "f16");
  const row = rowOf(eager!, bytes);
  assert(row.status === "ok");
  assertEquals(row.accuracy.mismatches, 0);
  assert(row.accuracy.deterministic);
  bytes.fill(0xff, 2 * 3 * 16);
  assertMatch(rowOf(eager!, bytes).note, /^C1: 80 of 80 .* NaN/);
});

Deno.test("peerRow() allows what rounding to bf16 adds, and no more", () => {
  assertEquals(coarse!.kernel, "torch-grouped-mm");
  const bytes = stored(right, "bf16");
  const row = rowOf(coarse!, bytes);
  assert(row.status === "ok");
  assertMatch(row.note, /results are bf16/);
  // The operation's own tolerance has no room for it.
  const { rtol } = coarse!.problem.tolerance;
  assert(row.accuracy.max_rel_err > rtol);
  const result = { type: "bf16", rtol: 0 } as const;
  const strict = { ...coarse!, peer: { ...coarse!.peer, result } };
  assertEquals(rowOf(strict, bytes).status, "wrong");
  const off = right.map((values) => values.map((x) => 1.01 * x));
  assertMatch(rowOf(coarse!, stored(off, "bf16")).note, /elements mismatch/);
});

Deno.test("peerRow() names the outputs and their sizes where bytes are too few", () => {
  const { status, note } = rowOf(eager!, new Uint8Array(10));
  assertEquals(status, "wrong");
  assertEquals(
    note,
    "C0, C1: has 10 bytes, and 3×16 of f16, 5×16 of f16 are 256",
  );
});

Deno.test("peerRow() takes rows without the padding that the operation has", () => {
  const { problem } = eager!;
  const operands = problem.operands.map((operand) =>
    operand.role === "out" ? { ...operand, ld: operand.cols + 8 } : operand
  );
  const padded = { ...eager!, problem: { ...problem, operands } };
  assertEquals(rowOf(padded, stored(right, "f16")).status, "ok");
});

Deno.test("failedPeerRow() names the library before its version is known", () => {
  const { library, compiler } = failedPeerRow(eager!, {
    ...context,
    torch: "",
    triton: "",
  }, { status: "crash", note: "" }).provenance;
  assertEquals([library, compiler], ["torch", ""]);
});
