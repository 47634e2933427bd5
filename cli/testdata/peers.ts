/**
 * Peers of a tiny suite on the fake device, for tests.
 *
 * @module
 */

import { strictEqual } from "node:assert/strict";
import { DEFAULTS } from "../../bench/model/settings.ts";
import type { Event, Job } from "../../bench/worker/protocol.ts";
import type { Calibration } from "../../bench/measure/calibration.ts";
import type { Row } from "../../bench/row/row.ts";
import { defineSuite, type Overrides } from "../../bench/model/suite.ts";
import { fake } from "../../backends/fake/fake.ts";
import { matmul } from "../../kernels/matmul/mod.ts";
import { naive } from "../../kernels/matmul/cpu/naive.ts";
import { peerCases } from "../../peers/peer_cases.ts";
import { measurePeers } from "../../peers/worker.ts";

const suite = defineSuite({
  name: "tiny",
  title: "Tiny",
  op: matmul,
  axes: { m: [4], k: [32] },
  tie: { n: "m" },
  fixed: { type: "bf16", epilogue: "relu" },
  kernels: [naive],
  baselines: ["naive"],
});
const FAKE = new URL("./fake_peers.py", import.meta.url);
const calibration: Calibration = {
  marker_us: 1,
  launch_us: 2,
  graph_us: 3,
  load: [{ bytes: 1, us: 3 }, { bytes: 1024, us: 4 }],
  peak: {},
};

/** The first `python3` that is there. */
const python = (() => {
  try {
    new Deno.Command("python3", { args: ["-c", ""] }).outputSync();
    return "python3";
  } catch {
    return undefined;
  }
})();
/** Of tests that need it. */
export const needed = { ignore: python === undefined };

/** What measuring the peers of a tiny suite gives, with another program or Python. */
export async function rowsOf(
  { program = FAKE, path = python!, overrides = {}, ...patience }: {
    program?: URL;
    patienceMs?: number;
    path?: string;
    overrides?: Overrides;
  } = {},
): Promise<{ rows: Row[]; events: Event[] }> {
  const cacheDir = Deno.makeTempDirSync();
  const events: Event[] = [];
  const job: Job = {
    ...{ suites: [], backend: "fake", device: 0, cases: [] },
    python: path,
    settings: { ...DEFAULTS, timer: "graph", cacheDir },
    skip: [],
    configs: {},
    run: "r",
    calibration,
  };
  const backend = fake({ kernels: {} });
  const [info] = backend.find().devices;
  try {
    strictEqual(
      await measurePeers(job, (event) => events.push(event), {
        backend,
        info: info!,
        cases: [...peerCases([...suite.cases("all", overrides)])],
        harness: "",
        program,
        ...patience,
      }),
      0,
    );
  } finally {
    Deno.removeSync(cacheDir, { recursive: true });
  }
  const rows = events.flatMap((e) => e.event === "row" ? [e.row] : []);
  return { rows, events };
}
