/**
 * The process that runs the cases of a job. It keeps nothing: its findings go to its standard
 * output at once, and a kernel that kills it kills only it.
 *
 * @module
 */

import { emulatedKernels } from "../backends/emulator/names.ts";
import { BinaryCache } from "../bench/device/binary_cache.ts";
import { findDisturbances } from "../bench/device/machine.ts";
import type { Backend, Device } from "../bench/device/device.ts";
import { BenchContext } from "../bench/measure/context.ts";
import { openSteady } from "../bench/measure/open_stable.ts";
import { writeAll } from "../bench/files/write_all.ts";
import type { DType } from "../bench/model/dtype.ts";
import { EXIT, type ExitCode, UserError } from "../bench/model/errors.ts";
import { isPythonCase } from "../bench/model/peer.ts";
import {
  type Settings,
  startsEarly,
  usesGraph,
  usesTimer,
  withoutGraphs,
} from "../bench/model/settings.ts";
import type { Case, Suite } from "../bench/model/suite.ts";
import { caseText, keyOf } from "../bench/row/row.ts";
import { ConfigBook } from "../bench/tune/config_book.ts";
import { readTimings } from "../bench/tune/timing_cache.ts";
import {
  type Assigned,
  type Emit,
  type Event,
  formatEvent,
  type Job,
  receiveJob,
  type Runner,
} from "../bench/worker/protocol.ts";
import { Pulse } from "../bench/worker/clock.ts";
import { BuildAhead } from "./build_ahead.ts";
import { hintsFor } from "./hints.ts";
import { runCases } from "./run_cases.ts";
import { VERSION } from "./home.ts";
import { besideAuto, besidePeers, loadSuites } from "./cases.ts";
import { takeDevice, type TakenDevice } from "./take_device.ts";
import { allowExit, importSuite, limitCalls, onFatal } from "./suite_file.ts";

/** Runs `job`, and says what happens by `emit`. @returns The exit code. */
export async function work(job: Job, emit: Emit): Promise<ExitCode> {
  const place = await placeOf(job);
  const cases = await casesOf(job, place.backend);
  const run = await runnerOf(cases);
  return await run(job, { ...place, cases, harness: VERSION }, emit);
}

/** Takes the device of `job`. @throws {UserError} Where it is not there. */
function placeOf({ backend, device, settings }: Job): Promise<TakenDevice> {
  const kernelCache = settings.cacheDir;
  return takeDevice({
    backend,
    device,
    kernelCache,
    useful: new Set([backend]),
  });
}

/** The cases of `job` that have no row yet. */
async function casesOf(
  { suites: names, peers, cases, skip, first, settings: { timer } }: Job,
  backend: Backend,
): Promise<readonly Case[]> {
  const suites = await besidePeers(
    await besideAuto(
      await loadSuites(names, importSuite),
      cases.flatMap(({ kernels }) => kernels),
      startsEarly(timer),
    ),
    peers?.set,
  );
  // During a case the time limit of kernels (`--timeout`) applies instead.
  await limitCalls(undefined, () => atWork);
  const done = new Set(skip);
  const groups = Map.groupBy(cases, ({ suite }) => suite);
  const all = [...groups].flatMap(([name, own]) => {
    const kernels = new Map(own.map((group) => [group.place, group.kernels]));
    return [...suiteNamed(name, suites).at([...kernels.keys()])].filter((c) =>
      c.backend === backend.name && kernels.get(c.place)!.includes(c.kernel) &&
      !done.has(caseText(keyOf(c)))
    );
  });
  if (first === undefined) return all;
  const isFirst = (c: Case) => caseText(keyOf(c)) === first;
  return [...all.filter(isFirst), ...all.filter((c) => !isFirst(c))];
}

/** @throws {UserError} Where a suite file has another name now than when it was selected. */
function suiteNamed(name: string, suites: readonly Suite[]): Suite {
  const found = suites.find((suite) => suite.name === name);
  if (found) return found;
  throw new UserError(
    `Cannot find the suite ${name} again: a suite file has another name each time it is loaded; give it a fixed one`,
  );
}

/** The runner of `cases`, which all have the same. */
async function runnerOf(cases: readonly Case[]): Promise<Runner> {
  if (!cases.some(isPythonCase)) return runKernels;
  const { runPeers } = await import("../peers/runner.ts");
  return runPeers;
}

/** Marks this process's records, once its job has come. */
let nonce = "";
const encoder = new TextEncoder();

/** Whether a case is at work, whose row tells what ends this process. */
let atWork = false;

const write: Emit = (event) => {
  if (event.event === "case") atWork = true;
  else if (event.event === "row" || event.event === "waits") atWork = false;
  writeAll(Deno.stdout, encoder.encode(formatEvent(event, nonce)));
};

/** Runs the job on standard input. Another process could not do what this one cannot. */
async function main(): Promise<ExitCode> {
  try {
    const job = await receiveJob();
    nonce = job.nonce ?? "";
    return await work(job, write);
  } catch (error) {
    if (!(error instanceof UserError)) throw error;
    const { message, code } = error;
    write({ event: "fatal", message, code });
    return code;
  }
}

if (import.meta.main) {
  const fatal = (message: string): Event => ({
    event: "fatal",
    message,
    code: EXIT.usage,
  });
  onFatal((message) => {
    if (!atWork) write(fatal(message));
    else console.error(message);
    Deno.exit(EXIT.usage);
  }, { to: "stdout", text: (message) => formatEvent(fatal(message), nonce) });
  const code = await main();
  allowExit();
  Deno.exit(code);
}

/** Runs the assigned cases, and says what happens by `emit`. @returns The exit code. */
async function runKernels(
  job: Job,
  assigned: Assigned,
  emit: Emit,
): Promise<ExitCode> {
  const { backend, info, cases } = assigned;
  using cache = cacheOf(job, emit);
  // Before it is one of the processes on the device itself.
  const machine = job.machine ?? disturbancesOf(job, assigned);
  using device = usesTimer(job.settings)
    ? await openSteady(
      ...[backend, info, cache] as const,
      new Pulse(() => emit({ event: "alive" })),
    )
    : backend.open(info);
  demandTimer(device, job.settings, backend.name);
  emit({
    event: "ready",
    device: info.name,
    arch: info.arch,
    driver: info.driver,
    libraries: librariesOf(device),
    cases: cases.length,
  });
  using context = await contextOf(job, assigned, {
    device,
    cache,
    machine,
    emit,
  });
  noteMissing(context, emit);
  const calibrated = () => {
    if (usesTimer(job.settings)) calibrate(cases, context, emit);
  };
  const onHost = backend.shared || typeof job.device === "string";
  // While nothing is compiled.
  if (!onHost) calibrated();
  const { workers } = job;
  await using ahead = new BuildAhead(cases, { context, emit, workers });
  // What one worker compiles would be while another times.
  if (onHost || workers !== undefined) await ahead.done();
  if (onHost) calibrated();
  return await runCases(cases, context, { emit, ahead });
}

function disturbancesOf(
  { settings }: Job,
  { backend, info }: Assigned,
): string {
  return usesTimer(settings) ? findDisturbances(backend, info).join("+") : "";
}

function cacheOf({ device, settings }: Job, emit: Emit): BinaryCache {
  const { cacheDir } = settings;
  const emulated = typeof device === "string";
  return new BinaryCache(
    emulated ? emulatedKernels(cacheDir) : cacheDir,
    { ...settings, note: (text) => emit({ event: "notice", text }) },
  );
}

/** @throws {UserError} Where the device lacks what the timer needs. */
function demandTimer(
  { capture, info }: Device,
  settings: Settings,
  backend: string,
): void {
  const { timer } = settings;
  if (!usesGraph(timer) || !usesTimer(settings)) return;
  if (!capture) throw new UserError(withoutGraphs(backend));
  if (startsEarly(timer) && !info.overlaps) {
    throw new UserError(
      `${info.name} (${info.arch}) starts no launch before its predecessor ends: time with --timer ${
        timer.replace(":pdl", "")
      }`,
    );
  }
}

function librariesOf({ blas }: Device): string[] {
  return blas ? [`${blas.name} ${blas.version}`] : [];
}

async function contextOf(
  { settings, run, configs }: Job,
  { backend, harness }: Assigned,
  { device, cache, machine, emit }: {
    device: Device;
    cache: BinaryCache;
    machine: string;
    emit: Emit;
  },
): Promise<BenchContext> {
  const { timingCache } = settings;
  return await BenchContext.open({
    backend,
    device,
    cache,
    settings,
    run,
    harness,
    machine,
    emit,
    configs: new ConfigBook(
      configs,
      timingCache === undefined ? undefined : readTimings(timingCache),
      hintsFor(device.info, startsEarly(settings.timer)),
    ),
    date: () => new Date().toISOString(),
  });
}

/** Says why rows will have no speed of light, where they could have one. */
function noteMissing({ options, instruments }: BenchContext, emit: Emit): void {
  const { settings, backend } = options;
  const { missing } = instruments;
  if (!usesTimer(settings) || !missing || backend.shared) return;
  emit({
    event: "notice",
    text:
      `Neither the launch overhead nor the load curve is measured, so no row has a speed of light: ${missing}`,
  });
}

/** Measures the limits of the device that the speed of light of `cases` needs. */
function calibrate(
  cases: readonly Case[],
  context: BenchContext,
  emit: Emit,
): void {
  if (cases.length === 0) return;
  const types = [
    ...new Set(
      cases.map(({ problem: { key, work } }) => work.type ?? key.a_type),
    ),
  ];
  const calibration = context.calibrate(types as DType[]);
  emit({ event: "calibration", calibration });
}
