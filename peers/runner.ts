/**
 * Runs the cases of peers in a worker: starts Python, sends it the inputs, and makes rows of its
 * messages.
 *
 * @module
 */

import { BinaryCache } from "../bench/device/binary_cache.ts";
import type { Calibration } from "../bench/measure/figures.ts";
import { BenchContext } from "../bench/measure/context.ts";
import { Pulse } from "../bench/worker/clock.ts";
import { openSteady } from "../bench/measure/open_stable.ts";
import { joinHashes } from "../bench/measure/case_run.ts";
import type { DType } from "../bench/model/dtype.ts";
import { CaseError, EXIT, type ExitCode } from "../bench/model/errors.ts";
import { isPythonCase, type PeerCase } from "../bench/model/peer.ts";
import type { Problem } from "../bench/model/suite.ts";
import type { Assigned, Emit, Job } from "../bench/worker/protocol.ts";
import { asPeerCase } from "./cases.ts";
import { isLarge, PeerInputs } from "./inputs.ts";
import type { PeerContext } from "./row.ts";
import { PeerSession, type PeerSessionOptions } from "./session.ts";

/**
 * Measures the Python cases among the assigned ones.
 *
 * @param replaced Another program or another time limit, for tests.
 */
export async function runPeers(
  job: Job,
  assigned: Assigned,
  emit: Emit,
  replaced: Pick<PeerSessionOptions, "program" | "patienceMs"> = {},
): Promise<ExitCode> {
  const start = performance.now();
  const { settings } = job;
  const { info } = assigned;
  const cases = assigned.cases.filter(isPythonCase).map(asPeerCase)
    .map((c) => typeof job.device === "string" ? withoutGpu(c) : c);
  emit({
    event: "ready",
    device: info.name,
    arch: info.arch,
    driver: info.driver,
    libraries: [],
    cases: cases.length,
  });
  using cache = new BinaryCache(settings.cacheDir, {
    ...settings,
    note: (text) => emit({ event: "notice", text }),
  });
  const cacheDir = `${settings.cacheDir}/peers-torch`;
  using inputs = PeerInputs.open(cacheDir, settings);
  const runnable = cases.filter((c) => c.unsupported(info) === undefined);
  const problems = [...new Set(runnable.map((c) => c.problem))];
  const calibration = problems.length === 0
    ? job.calibration
    : await onDevice(job, assigned, emit, { cache, inputs, problems });
  const calibrated = performance.now();
  const context: PeerContext = {
    job,
    assigned,
    calibration,
    torch: "",
    triton: "",
    hashes: (c) => hashesOf(c, assigned, cache),
  };
  const session = new PeerSession({
    context,
    emit,
    inputs,
    cacheDir,
    ...replaced,
    instruments: await instrumentsOf(assigned, cache),
  });
  await session.run(cases);
  const { build, search, check, time } = session.spent;
  const calibrate = calibrated - start;
  const wanted = runnable.length * (settings.warmup + settings.rep);
  const { heapUsed, external } = Deno.memoryUsage();
  emit({
    event: "done",
    spent: {
      build,
      calibrate,
      search,
      check,
      time,
      asked: wanted + calibrate + check,
      total: performance.now() - start,
    },
    memoryBytes: heapUsed + external,
  });
  return EXIT.ok;
}

/** Returns the hashes of the sources of `c`; empty if they cannot be read, which Python reports. */
function hashesOf(
  c: PeerCase,
  { backend, info }: Assigned,
  cache: BinaryCache,
): ReturnType<PeerContext["hashes"]> {
  const builds = c.builds({});
  try {
    return {
      source_hash: joinHashes(
        builds.map((build) => cache.sourceHash(build, backend, info.arch)),
      ),
      code_hash: joinHashes(
        builds.map((build) => cache.codeHash(build, backend, info.arch)),
      ),
    };
  } catch (error) {
    if (!(error instanceof CaseError)) throw error;
    return { source_hash: "", code_hash: "" };
  }
}

/** Returns `c` as unsupported, for an emulated device. */
function withoutGpu(c: PeerCase): PeerCase {
  const why = `Python runs ${c.kernel} on a GPU, not on an emulated device`;
  return { ...c, unsupported: () => why };
}

/** Returns the path of the binary of the harness's own kernels; undefined if it cannot be built. */
async function instrumentsOf(
  { backend, info }: Assigned,
  cache: BinaryCache,
): Promise<string | undefined> {
  const build = { source: backend.instruments, defines: {} };
  try {
    return cache.copyOf(await cache.get(build, backend, info.arch));
  } catch (error) {
    if (!(error instanceof CaseError) || error.failure !== "compile") {
      throw error;
    }
    return undefined;
  }
}

/**
 * Does the work on the device that Python cannot do: measures its limits unless they are known, and
 * computes references that would take the host too long. The device is closed again, so that nothing
 * else runs on it while Python measures.
 */
async function onDevice(
  job: Job,
  { backend, info, harness }: Assigned,
  emit: Emit,
  { cache, inputs, problems }: {
    cache: BinaryCache;
    inputs: PeerInputs;
    problems: readonly Problem[];
  },
): Promise<Calibration | undefined> {
  if (job.calibration && !problems.some(isLarge)) return job.calibration;
  using device = await openSteady(
    ...[backend, info, cache] as const,
    new Pulse(() => emit({ event: "alive" })),
  );
  using bench = await BenchContext.open({
    backend,
    device,
    cache,
    harness,
    emit,
    settings: job.settings,
    run: job.run,
    date: () => new Date().toISOString(),
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
