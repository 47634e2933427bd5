/**
 * The process that opens a device and runs cases on it. It keeps nothing: what it finds
 * goes to its standard output as it is found, and a kernel that kills it kills only it.
 *
 * @module
 */

import { BinaryCache } from "../bench/device/binary_cache.ts";
import type { Backend, Device, DeviceInfo } from "../bench/device/device.ts";
import type { DType } from "../bench/model/dtype.ts";
import { EXIT, type ExitCode, UserError } from "../bench/model/errors.ts";
import { ConfigLostError } from "../bench/tune/crashed_configs.ts";
import { receiveJob } from "../bench/worker/orphan.ts";
import { type Emit, formatEvent, type Job } from "../bench/worker/protocol.ts";
import { BenchContext } from "../bench/measure/context.ts";
import { keyOf, keyText } from "../bench/row/row.ts";
import { type Outcome, run } from "../bench/measure/run_case.ts";
import { openSteady } from "../bench/measure/open_stable.ts";
import type { Case } from "../bench/model/suite.ts";
import { readTimings } from "../bench/tune/timing_file.ts";
import {
  emulatedDevice,
  emulatedKernels,
} from "../backends/emulator/emulator.ts";
import { backends } from "../backends/mod.ts";
import { BuildAhead } from "./build_ahead.ts";
import { ConfigBook } from "../bench/tune/config_book.ts";
import { peerCases } from "../peers/peer_cases.ts";
import { casesOfJob, suiteOf } from "./job.ts";
import { loadSuites } from "./select.ts";
import { VERSION } from "./home.ts";

/** Does the job on standard input, and says what it finds on standard output. */
export async function worker(): Promise<number> {
  try {
    const job = await receiveJob();
    nonce = job.nonce ?? "";
    const { python } = job;
    return await (python === undefined
      ? work(job, emit)
      : workOfPeers({ ...job, python }, emit));
  } catch (error) {
    if (!(error instanceof UserError)) throw error;
    sayFatal(error.message, error.code);
    return error.code;
  }
}

/** What marks this worker's records, once its job has come. */
let nonce = "";

const emit: Emit = (event) => writeAll(formatEvent(event, nonce));

/** Says that this worker cannot go on, and that another could not either. */
export function sayFatal(message: string, code: ExitCode): void {
  emit({ event: "fatal", message, code });
}

/** Measures the cases of `job`, which are of peers. @returns The exit code. */
async function workOfPeers(
  job: Job & { readonly python: string },
  emit: Emit,
): Promise<number> {
  const { measurePeers } = await import("../peers/worker.ts");
  const suites = await loadSuites(job.suites);
  const wanted = new Map(job.cases.map((group) => {
    const [first] = suiteOf(group, suites).at(group.place);
    return [first!, new Set(group.kernels)];
  }));
  const kernels = new Map(
    [...wanted].map(([{ problem }, names]) => [problem, names]),
  );
  const done = new Set(job.skip);
  // A dynamic graph serves several sizes, so that all are known before any is left out.
  const cases = [...peerCases([...wanted.keys()])].filter((c) =>
    kernels.get(c.problem)!.has(c.kernel) && !done.has(keyText(keyOf(c)))
  );
  const place = placeOf(job);
  return await measurePeers(job, emit, { ...place, cases, harness: VERSION });
}

/** Does `job`, and says what happens by `emit`. @returns The exit code. */
export async function work(job: Job, emit: Emit): Promise<number> {
  const { settings } = job;
  const { backend, info } = placeOf(job);
  const suites = await loadSuites(job.suites);
  const cases = casesOfJob(
    job,
    (group) =>
      Iterator.from(suiteOf(group, suites).at(group.place))
        .filter((c) => c.backend === backend.name),
  );

  const cache = new BinaryCache(
    typeof job.device === "string"
      ? emulatedKernels(settings.cacheDir)
      : settings.cacheDir,
    settings,
  );
  const timed = !settings.once && !settings.checkOnly;
  using device = timed
    ? await openSteady(backend, info, cache)
    : backend.open(info);
  if (settings.timer === "graph" && timed && !device.capture) {
    throw new UserError(
      `${backend.name} has no graphs: time with --timer do_bench or --timer batch:N`,
    );
  }
  emit({
    event: "ready",
    device: info.name,
    arch: info.arch,
    driver: info.driver,
    libraries: librariesOf(device),
    cases: cases.length,
  });
  using context = await BenchContext.open({
    backend,
    device,
    cache,
    settings,
    run: job.run,
    harness: VERSION,
    configs: new ConfigBook(
      job.configs,
      settings.timingCache === undefined
        ? undefined
        : readTimings(settings.timingCache),
    ),
    date: () => new Date().toISOString(),
    emit,
  });
  const { missing } = context.instruments;
  if (timed && missing && !backend.shared) {
    emit({
      event: "notice",
      text:
        `Neither the launch overhead nor the load curve is measured, so no row has a speed of light: ${missing}`,
    });
  }
  await using ahead = new BuildAhead(cases, { context, emit });
  // A device of its own goes on while the host compiles; not so a CPU, and not so where
  // rows are timed.
  if (!settings.tune || backend.shared) await ahead.done();
  if (timed && cases.length) {
    const types = [
      ...new Set(
        cases.map(({ problem: { key, work } }) => work.type ?? key.a_type),
      ),
    ];
    emit({
      event: "calibration",
      calibration: context.calibrate(types as DType[]),
    });
  }
  let memoryBytes = 0;
  for (const c of cases) {
    emit({ event: "case", key: keyOf(c) });
    const outcome = await runOrLose(c, context);
    if (outcome === "lost") {
      emit({ event: "restart" });
      return EXIT.ok;
    }
    const { row, samples } = outcome;
    emit({ event: "row", row, ...(samples ? { samples } : {}) });
    const { heapUsed, external } = Deno.memoryUsage();
    memoryBytes = Math.max(memoryBytes, heapUsed + external);
    // What follows a failed launch in the same context fails for no fault of its own.
    if (row.status === "launch") {
      emit({ event: "restart" });
      return EXIT.ok;
    }
  }
  emit({ event: "done", spent: context.ledger.spent, memoryBytes });
  return EXIT.ok;
}

/** What came of `c`; or `lost`, where a config of its search spoilt the device. */
async function runOrLose(
  c: Case,
  context: BenchContext,
): Promise<Outcome | "lost"> {
  try {
    return await run(c, context);
  } catch (error) {
    if (!(error instanceof ConfigLostError)) throw error;
    return "lost";
  }
}

/** The device of `job`. @throws {UserError} Where it is not there. */
export function placeOf(
  { backend: name, device, settings }: Pick<
    Job,
    "backend" | "device" | "settings"
  >,
): { readonly backend: Backend; readonly info: DeviceInfo } {
  if (typeof device === "string") {
    return emulatedDevice(device, settings.cacheDir);
  }
  const backend = backends.find((b) => b.name === name);
  if (!backend) throw new UserError(`No backend is named ${name}`);
  const { devices, reason } = backend.find();
  const info = devices.find((d) => d.index === device);
  if (info) return { backend, info };
  throw new UserError(
    devices.length
      ? `${backend.name} has no device ${device}: it has ${
        devices.map((d) => d.index).join(", ")
      }`
      : reason,
    EXIT.nothing,
  );
}

function librariesOf({ blas }: Device): string[] {
  return blas ? [`${blas.name} ${blas.version}`] : [];
}

const encoder = new TextEncoder();

function writeAll(text: string): void {
  let bytes = encoder.encode(text);
  while (bytes.length) bytes = bytes.subarray(Deno.stdout.writeSync(bytes));
}
