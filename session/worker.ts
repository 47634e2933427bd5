/**
 * The process that runs the cases of a job. It keeps nothing: its findings go to its standard
 * output at once, and a kernel that kills it kills only it.
 *
 * @module
 */

import type { Backend, DeviceInfo } from "../bench/device/device.ts";
import { EXIT, type ExitCode, UserError } from "../bench/model/errors.ts";
import { isPeerCase } from "../bench/model/peer.ts";
import type { Case, Suite } from "../bench/model/suite.ts";
import { keyOf, keyText } from "../bench/row/row.ts";
import { receiveJob } from "../bench/worker/orphan.ts";
import { type Emit, formatEvent, type Job } from "../bench/worker/protocol.ts";
import type { Runner } from "../bench/worker/runner.ts";
import { emulatedDevice } from "../backends/emulator/emulator.ts";
import { backends } from "../backends/mod.ts";
import { besidePeers } from "../peers/cases.ts";
import { VERSION } from "./home.ts";
import { runKernels } from "./run_kernels.ts";
import { loadSuites } from "./select.ts";
import { done, onFatal } from "./suite_file.ts";

/** Runs `job`, and says what happens by `emit`. @returns The exit code. */
export async function work(job: Job, emit: Emit): Promise<ExitCode> {
  const place = placeOf(job);
  const cases = await casesOf(job, place.backend);
  const run = await runnerOf(cases);
  return await run(job, { ...place, cases, harness: VERSION }, emit);
}

/** The device of `job`. @throws {UserError} Where it is not there. */
function placeOf(
  { backend: name, device, settings }: Job,
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

/** The cases of `job` that have no row yet. */
async function casesOf(
  { suites: names, peers, cases, skip }: Job,
  backend: Backend,
): Promise<readonly Case[]> {
  const suites = besidePeers(await loadSuites(names), peers?.set);
  const done = new Set(skip);
  const groups = Map.groupBy(cases, ({ suite }) => suite);
  return [...groups].flatMap(([name, own]) => {
    const kernels = new Map(own.map((group) => [group.place, group.kernels]));
    return [...suiteNamed(name, suites).at([...kernels.keys()])].filter((c) =>
      c.backend === backend.name && kernels.get(c.place)!.includes(c.kernel) &&
      !done.has(keyText(keyOf(c)))
    );
  });
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
  if (!cases.some(isPeerCase)) return runKernels;
  const { runPeers } = await import("../peers/runner.ts");
  return runPeers;
}

/** Marks this process's records, once its job has come. */
let nonce = "";
const encoder = new TextEncoder();

const write: Emit = (event) => {
  let bytes = encoder.encode(formatEvent(event, nonce));
  while (bytes.length) bytes = bytes.subarray(Deno.stdout.writeSync(bytes));
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
  onFatal((message) => {
    write({ event: "fatal", message, code: EXIT.usage });
    Deno.exit(EXIT.usage);
  });
  const code = await main();
  done();
  Deno.exit(code);
}
