/**
 * The worker of peers: starts Python, hands it inputs, and makes rows of what it says.
 *
 * @module
 */

import { BinaryCache } from "../bench/device/binary_cache.ts";
import type { Backend, DeviceInfo } from "../bench/device/device.ts";
import type { DType } from "../bench/model/dtype.ts";
import { CaseError, EXIT } from "../bench/model/errors.ts";
import { joinHashes } from "../bench/measure/provenance.ts";
import type { Emit, Job } from "../bench/worker/protocol.ts";
import type { Calibration } from "../bench/measure/calibration.ts";
import { BenchContext } from "../bench/measure/context.ts";
import { keyOf } from "../bench/row/row.ts";
import { openSteady } from "../bench/measure/open_stable.ts";
import type { Case, Problem } from "../bench/model/suite.ts";
import { isLarge, PeerInputs } from "./inputs.ts";
import { failedPeerRow, type PeerContext } from "./peer_row.ts";
import { PeerSession } from "./runner.ts";

/** What {@linkcode measurePeers} measures, and on what. */
export interface PeersPlace {
  readonly backend: Backend;
  readonly info: DeviceInfo;
  readonly cases: readonly Case[];
  /** The version of this program. */
  readonly harness: string;
  /** Started in the place of our own. */
  readonly program?: URL;
  /** Milliseconds for its first word. */
  readonly patienceMs?: number;
}

/** Measures `cases` of peers by Python, and says what it finds. @returns The exit code. */
export async function measurePeers(
  job: Job,
  emit: Emit,
  { backend, info, cases, harness, program, patienceMs }: PeersPlace,
): Promise<number> {
  const start = performance.now();
  const { settings } = job;
  const { python = "python3" } = job;
  emit({
    event: "ready",
    device: info.name,
    arch: info.arch,
    driver: info.driver,
    libraries: [],
    cases: cases.length,
  });
  const cache = new BinaryCache(settings.cacheDir, settings);
  const runnable = cases.filter((c) => c.unsupported(info) === undefined);
  const cacheDir = `${settings.cacheDir}/peers-torch`;
  using inputs = PeerInputs.open(cacheDir, settings);
  const problems = [...new Set(runnable.map((c) => c.problem))];
  const calibration = problems.length === 0
    ? job.calibration
    : await onDevice(job, emit, {
      ...{ backend, info, cache, harness, inputs, problems },
    });
  const calibrated = performance.now();
  const context: PeerContext = {
    place: { device: info.name, arch: info.arch },
    driver: info.driver,
    settings,
    run: job.run,
    harness,
    flushBytes: info.flushBytes,
    calibration,
    torch: "",
    triton: "",
    sourceHash: (c) =>
      joinHashes(
        c.builds({}).map((b) => cache.sourceHash(b, backend, info.arch)),
      ),
    date: () => new Date().toISOString(),
  };
  for (const c of cases) {
    const note = c.unsupported(info);
    if (note === undefined) continue;
    emit({ event: "case", key: keyOf(c) });
    const row = failedPeerRow(c, context, { status: "unsupported", note });
    emit({ event: "row", row });
  }
  const session = new PeerSession({
    all: cases,
    context,
    emit,
    info,
    inputs,
    python,
    program,
    patienceMs,
    cacheDir,
    instruments: await instrumentsOf({ backend, info, cache }),
  });
  await session.run(runnable);
  const { build, search, check, time } = session.spent;
  const calibrate = calibrated - start;
  const wanted = runnable.length * (settings.warmup + settings.rep);
  const { heapUsed, external } = Deno.memoryUsage();
  emit({
    event: "done",
    spent: {
      ...{ build, calibrate, search, check, time },
      asked: wanted + calibrate + check,
      total: performance.now() - start,
    },
    memoryBytes: heapUsed + external,
  });
  return EXIT.ok;
}

/** The binary of the harness's own kernels; nothing where it cannot be built. */
async function instrumentsOf(
  { backend, info, cache }: {
    backend: Backend;
    info: DeviceInfo;
    cache: BinaryCache;
  },
): Promise<string | undefined> {
  const build = { source: backend.instruments, defines: {} };
  try {
    return (await cache.get(build, backend, info.arch)).path;
  } catch (error) {
    if (!(error instanceof CaseError) || error.failure !== "compile") {
      throw error;
    }
    return undefined;
  }
}

/**
 * What only a device of ours can do, before Python has it: limits that are not known yet,
 * and references that would take the host too long. It is closed again, so that nothing
 * else is at work on the device while Python measures.
 */
async function onDevice(
  job: Job,
  emit: Emit,
  { backend, info, cache, harness, inputs, problems }: {
    backend: Backend;
    info: DeviceInfo;
    cache: BinaryCache;
    harness: string;
    inputs: PeerInputs;
    problems: readonly Problem[];
  },
): Promise<Calibration | undefined> {
  if (job.calibration && !problems.some(isLarge)) return job.calibration;
  using device = await openSteady(backend, info, cache);
  using bench = await BenchContext.open({
    backend,
    device,
    cache,
    settings: job.settings,
    run: job.run,
    harness,
    date: () => new Date().toISOString(),
    emit,
  });
  let { calibration } = job;
  if (!calibration) {
    const types = [
      ...new Set(problems.map(({ key, work }) => work.type ?? key.a_type)),
    ];
    calibration = bench.calibrate(types as DType[]);
    emit({ event: "calibration", calibration });
  }
  await inputs.judge(problems, bench);
  return calibration;
}
