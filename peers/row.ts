/**
 * Makes the row of a peer's case, from what Python measured and wrote.
 *
 * @module
 */

import { hashOf } from "../bench/files/hash.ts";
import {
  compareAll,
  type Comparison,
  worse,
} from "../bench/measure/assert_close.ts";
import {
  aboveSolNote,
  type Calibration,
  figuresOf,
} from "../bench/measure/figures.ts";
import { clausesOf } from "../bench/measure/clauses.ts";
import type { Right } from "../bench/measure/operands.ts";
import { BYTES } from "../bench/model/dtype.ts";
import { formatValues } from "../bench/model/grid.ts";
import { type PeerCase, PYTHON_LIBRARY } from "../bench/model/peer.ts";
import type { Operand } from "../bench/model/problem.ts";
import type { Problem } from "../bench/model/suite.ts";
import {
  type Accuracy,
  type FailedRow,
  keyOf,
  type Provenance,
  type Row,
  type RowBase,
  SCHEMA,
} from "../bench/row/row.ts";
import type { Assigned, Job } from "../bench/worker/protocol.ts";
import type { PeerTimed } from "./process.ts";

/** The fields that the rows of one start of Python share. */
export interface PeerContext {
  readonly job: Job;
  readonly assigned: Assigned;
  readonly calibration: Calibration | undefined;
  /** Versions; empty before Python has said them. */
  readonly torch: string;
  readonly triton: string;
  /** Of a case's sources. */
  hashes(c: PeerCase): Pick<Provenance, "source_hash" | "code_hash">;
}

function baseOf(
  c: PeerCase,
  context: PeerContext,
  told: Partial<PeerTimed> = {},
): Omit<RowBase, "note"> {
  const { job: { settings, run }, assigned, torch, triton } = context;
  const { info, harness } = assigned;
  const cold = settings.cache === "cold";
  const fixed = c.peer.kind === "call" || c.peer.kind === "own";
  const library = c.runner === "peers" ? "torch" : `${PYTHON_LIBRARY} torch`;
  const how = fixed ? "fixed" : told.cached ? "cache" : "search";
  const config = told.config ? formatValues(told.config) : "";
  const provenance: Provenance = {
    // Always: a compiled call takes longer to issue than a flush takes.
    timer: "graph",
    cache: settings.cache,
    flush: cold ? settings.flush : "",
    flush_bytes: cold ? info.flushBytes : 0,
    warmup_ms: settings.warmup,
    rep_ms: settings.rep,
    fill: settings.fill,
    seed: settings.seed,
    search_configs: told.tried ?? 0,
    search_ms: told.search_ms ?? 0,
    ...told.telemetry,
    machine: context.job.machine ?? "",
    driver: info.driver,
    compiler: !fixed && triton !== "" ? `triton ${triton}` : "",
    library: `${library} ${torch}`.trim(),
    ...context.hashes(c),
    binary_hash: "",
    harness,
    schema: SCHEMA,
    run,
    time: new Date().toISOString(),
  };
  return {
    key: keyOf(c),
    place: { device: info.name, arch: info.arch },
    config,
    config_by: told.status !== "ok" ? "" : how,
    provenance,
  };
}

/** Makes the row of a case that has no timing. */
export function failedPeerRow(
  c: PeerCase,
  context: PeerContext,
  outcome: Pick<FailedRow, "status" | "note">,
): FailedRow {
  return { ...baseOf(c, context), ...outcome };
}

/** Makes the row of a case that Python ran: checked here, like a kernel of ours. */
export function peerRow(
  c: PeerCase,
  context: PeerContext,
  { told, outputs, right }: {
    told: PeerTimed;
    /**
     * Of the call, of its replay, and of the last sample: rows without padding, of several
     * outputs one after the other.
     */
    outputs: readonly Uint8Array<ArrayBuffer>[];
    right: Right;
  },
): Row {
  const base = baseOf(c, context, told);
  const expected = peerOutputs(c);
  const whens = ["", "replayed, ", "after timing, "];
  for (const [i, bytes] of outputs.entries()) {
    const odd = wrongSize(bytes, expected);
    if (odd === undefined) continue;
    return { ...base, status: "wrong", note: `${whens[i]}${odd}` };
  }
  const compared = outputs.map((bytes) =>
    compareOutputs(bytes, expected, right)
  );
  const accuracy: Accuracy = {
    ...compared.map((one) => one.accuracy).reduce(worse),
    deterministic: hashOf(outputs[0]!) === hashOf(outputs[1]!),
  };
  const at = compared.findIndex(({ wrong }) => wrong !== undefined);
  const input = told.changed === null
    ? undefined
    : c.problem.operands.filter(({ role }) => role === "in")[told.changed];
  // Outputs of a call that changed its inputs are wrong for that reason.
  const wrong = input
    ? `${input.name}: is an input, and was changed`
    : at >= 0
    ? `${whens[at]}${compared[at]!.wrong}`
    : undefined;
  if (wrong !== undefined) {
    return { ...base, status: "wrong", note: wrong, accuracy };
  }
  if (context.job.settings.checkOnly) {
    return { ...base, status: "checked", note: c.peer.note ?? "", accuracy };
  }
  const figures = figuresOf(c.problem, told.samples, {
    calibration: context.calibration,
    timer: "graph",
  });
  const above = aboveSolNote(figures, context.job.settings.cache);
  const notes = [c.peer.note ?? "", above];
  const { fill, warmup } = context.job.settings;
  const clauses = clausesOf({
    fill,
    sets: 1,
    inputBytes: 0,
    calls: 1,
    warmup_ms: warmup,
    cacheBytes: context.assigned.info.cacheBytes,
    samples: told.samples.length,
    throttle: told.telemetry.throttle,
  });
  return {
    ...base,
    provenance: { ...base.provenance, clauses },
    status: "ok",
    note: notes.filter((note) => note !== "").join("; "),
    accuracy,
    figures,
  };
}

/** The outputs of a call: rows without padding, of several outputs one after the other. */
type PeerOutputs = Pick<Problem, "tolerance" | "bits"> & {
  readonly outputs: readonly Operand[];
};

/** Returns the outputs of a peer, of its own type where it has one. */
function peerOutputs(
  { peer: { result }, problem: { operands, tolerance, bits } }: PeerCase,
): PeerOutputs {
  return {
    outputs: operands.filter(({ role }) => role === "out").map((operand) => ({
      ...operand,
      ld: operand.cols,
      type: result?.type ?? operand.type,
    })),
    tolerance: { ...tolerance, rtol: tolerance.rtol + (result?.rtol ?? 0) },
    // Coarser outputs are no fault of the sums.
    ...(bits === undefined || result ? {} : { bits }),
  };
}

/** The reason why `bytes` cannot be the outputs; nothing where they have their size. */
function wrongSize(
  bytes: Uint8Array,
  { outputs }: PeerOutputs,
): string | undefined {
  const size = outputs.reduce((sum, operand) => sum + bytesOf(operand), 0);
  if (bytes.length === size) return undefined;
  const names = outputs.map(({ name }) => name).join(", ");
  const shapes = outputs.map(({ rows, cols, type }) =>
    `${rows}×${cols} of ${type}`
  );
  return `${names}: has ${bytes.length} bytes, and ${
    shapes.join(", ")
  } are ${size}`;
}

/** Compares all outputs in `bytes`: the worst accuracy, and the first thing that is wrong. */
function compareOutputs(
  bytes: Uint8Array<ArrayBuffer>,
  { outputs, tolerance, bits }: PeerOutputs,
  { values, terms }: Right,
): Comparison {
  let from = 0;
  const all = outputs.map((operand, i) => {
    const own = bytes.slice(from, from += bytesOf(operand));
    return { operand, bytes: own, right: values[i]!, terms: terms[i] };
  });
  return compareAll(all, tolerance, bits);
}

function bytesOf({ rows, cols, type }: Operand): number {
  return rows * cols * BYTES[type];
}
