/**
 * The row of a peer's case, from what Python measured.
 *
 * @module
 */

import { compareOutputs, peerOutputs, wrongSize } from "./outputs.ts";
import { figuresOf } from "../bench/measure/figures.ts";
import { hashOf } from "../bench/device/binary_cache.ts";
import { worse } from "../bench/measure/assert_close.ts";
import type { Settings } from "../bench/model/settings.ts";
import { formatValues } from "../bench/model/grid.ts";
import type { Calibration } from "../bench/measure/calibration.ts";
import {
  type Accuracy,
  type FailedRow,
  keyOf,
  type Place,
  type Provenance,
  type Row,
  type RowBase,
  SCHEMA,
} from "../bench/row/row.ts";
import type { Case } from "../bench/model/suite.ts";
import { peerOf } from "./peer_cases.ts";
import type { PeerTimed } from "./python_process.ts";

/** What the rows of one start of Python share. */
export interface PeerContext {
  readonly place: Place;
  readonly driver: string;
  readonly settings: Settings;
  readonly run: string;
  readonly harness: string;
  readonly flushBytes: number;
  readonly calibration: Calibration | undefined;
  /** Versions; empty before Python has said them. */
  readonly torch: string;
  readonly triton: string;
  /** Of a case's sources. */
  sourceHash(c: Case): string;
  date(): string;
}

function baseOf(
  c: Case,
  context: PeerContext,
  told: Partial<PeerTimed>,
): Omit<RowBase, "note"> {
  const { settings, torch, triton } = context;
  const cold = settings.cache === "cold";
  const peer = peerOf(c);
  const how = !peer?.searched ? "fixed" : told.cached ? "cache" : "search";
  const config = told.config ? formatValues(told.config) : "";
  const provenance: Provenance = {
    // Always: a compiled call takes longer to issue than a flush takes.
    timer: "graph",
    cache: settings.cache,
    flush: cold ? settings.flush : "",
    flush_bytes: cold ? context.flushBytes : 0,
    warmup_ms: settings.warmup,
    rep_ms: settings.rep,
    fill: settings.fill,
    seed: settings.seed,
    search_configs: told.tried ?? 0,
    search_ms: told.search_ms ?? 0,
    ...told.telemetry,
    driver: context.driver,
    compiler: peer?.compiled && triton !== "" ? `triton ${triton}` : "",
    library: torch === "" ? "" : `torch ${torch}`,
    source_hash: context.sourceHash(c),
    binary_hash: "",
    harness: context.harness,
    schema: SCHEMA,
    run: context.run,
    time: context.date(),
  };
  return {
    key: keyOf(c),
    place: context.place,
    config,
    config_by: told.status !== "ok" ? "" : how,
    provenance,
  };
}

/** The row of a case that has no timing. */
export function failedPeerRow(
  c: Case,
  context: PeerContext,
  { status, note, told = {} }: {
    status: FailedRow["status"];
    note: string;
    told?: Partial<PeerTimed>;
  },
): FailedRow {
  return { ...baseOf(c, context, told), status, note };
}

/** The row of a case that Python ran: checked here, like a kernel of ours. */
export function peerRow(
  c: Case,
  context: PeerContext,
  { told, outputs, right }: {
    told: PeerTimed;
    /**
     * Of the call, of its replay, and of the last sample: rows without padding, of several
     * outputs one after the other.
     */
    outputs: readonly Uint8Array<ArrayBuffer>[];
    /** One for each output of the operation. */
    right: readonly Float64Array[];
  },
): Row {
  const base = baseOf(c, context, told);
  const peer = peerOf(c);
  const expected = peerOutputs(peer, c.problem);
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
  const wrong = at >= 0
    ? `${whens[at]}${compared[at]!.wrong}`
    : input && `${input.name}: is an input, and was changed`;
  if (wrong !== undefined) {
    return { ...base, status: "wrong", note: wrong, accuracy };
  }
  return {
    ...base,
    status: "ok",
    note: peer?.note ?? "",
    accuracy,
    figures: figuresOf(c.problem, told.samples, {
      calibration: context.calibration,
      graph: true,
      // The curve was measured by the timer of our kernels.
      light: context.settings.timer === "graph",
    }),
  };
}
