/**
 * The process that opens a device and runs cases on it. It keeps nothing: what it finds
 * goes to its standard output as it is found, and a kernel that kills it kills only it.
 *
 * @module
 */

import { BinaryCache } from "../bench/cache.ts";
import type { Build, Device, DeviceInfo } from "../bench/device.ts";
import type { DType } from "../bench/dtype.ts";
import { CaseError, EXIT, UserError } from "../bench/errors.ts";
import { receiveJob } from "../bench/orphan.ts";
import { type Event, formatEvent, type Job } from "../bench/protocol.ts";
import { buildText, Rig } from "../bench/rig.ts";
import { keyOf, keyText } from "../bench/row.ts";
import { run } from "../bench/run.ts";
import { openSteady } from "../bench/steady.ts";
import type { Case } from "../bench/suite.ts";
import { backends } from "../backends/mod.ts";
import { casesOf, loadSuites } from "./select.ts";
import { VERSION } from "./home.ts";
import { tell } from "./talk.ts";

/** Says what happens. */
export type Emit = (event: Event) => void;

/** The hidden command: a job on standard input, events on standard output. */
export async function worker(): Promise<number> {
  let nonce = "";
  const emit: Emit = (event) => writeAll(formatEvent(event, nonce));
  try {
    const job = await receiveJob();
    nonce = job.nonce ?? "";
    return await work(job, emit);
  } catch (error) {
    if (!(error instanceof UserError)) throw error;
    emit({ event: "fatal", message: error.message, code: error.code });
    return error.code;
  }
}

/** Does `job`, and says what happens by `emit`. @returns The exit code. */
export async function work(job: Job, emit: Emit): Promise<number> {
  const { selection, settings } = job;
  const backend = backends.find((b) => b.name === selection.backend);
  if (!backend) throw new UserError(`No backend is named ${selection.backend}`);
  const { devices, reason } = backend.find();
  const info = devices.find((d) => d.index === selection.device);
  if (!info) {
    throw new UserError(
      devices.length
        ? `${backend.name} has no device ${selection.device}: it has ${
          devices.map((d) => d.index).join(", ")
        }`
        : reason,
      EXIT.nothing,
    );
  }
  const skip = new Set(job.skip);
  const cases = [...casesOf(await loadSuites(selection.suites), selection)]
    .filter((c) => !skip.has(keyText(keyOf(c))));

  const cache = new BinaryCache(settings.cacheDir, settings);
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
  using rig = await Rig.open({
    backend,
    device,
    cache,
    settings,
    run: job.run,
    harness: VERSION,
    winners: job.winners,
    date: () => new Date().toISOString(),
    emit,
  });
  const { missing } = rig.instruments;
  // Standard error of a worker goes to the person, between two looks of the bar.
  if (timed && missing && !backend.shared) {
    tell(
      `Neither the timer's floor nor the load curve is measured, so no row has a speed of light: ${missing}`,
    );
  }
  await buildAll(cases, { rig, emit, info });
  if (timed && cases.length) {
    const types = [...new Set(cases.map((c) => c.problem.key.a_type))];
    emit({
      event: "calibration",
      calibration: rig.calibrate(types as DType[]),
    });
  }
  let memoryBytes = 0;
  for (const c of cases) {
    emit({ event: "case", key: keyOf(c) });
    const { row, samples } = await run(c, rig);
    emit({ event: "row", row, ...(samples ? { samples } : {}) });
    const { heapUsed, external } = Deno.memoryUsage();
    memoryBytes = Math.max(memoryBytes, heapUsed + external);
    // What follows a failed launch in the same context fails for no fault of its own.
    if (row.status === "launch") {
      emit({ event: "restart" });
      return EXIT.ok;
    }
  }
  emit({ event: "done", spent: rig.ledger.spent, memoryBytes });
  return EXIT.ok;
}

function librariesOf({ blas }: Device): string[] {
  return blas ? [`${blas.name} ${blas.version}`] : [];
}

/**
 * Compiles what the cases need and the cache lacks, all cores at once. A kernel that
 * does not compile is its own row's matter, later.
 */
async function buildAll(
  cases: readonly Case[],
  { rig, emit, info }: { rig: Rig; emit: Emit; info: DeviceInfo },
): Promise<void> {
  const builds = distinctBuilds(cases, info);
  let done = 0;
  const next = builds.values();
  const lane = async () => {
    for (const build of next) {
      try {
        await rig.build([build]);
      } catch (error) {
        if (!(error instanceof CaseError)) throw error;
      }
      emit({ event: "build", done: ++done, total: builds.length });
    }
  };
  await rig.ledger.count(
    "build",
    () =>
      Promise.all(
        Array.from({ length: navigator.hardwareConcurrency }, lane),
      ),
  );
}

/** Every translation unit of every legal config of `cases`, once. */
export function distinctBuilds(
  cases: readonly Case[],
  info: DeviceInfo,
): Build[] {
  const all = new Map<string, Build>();
  for (const c of cases) {
    for (const build of buildsOf(c, info)) all.set(buildText(build), build);
  }
  return [...all.values()];
}

/** What `c` needs built; nothing where its kernel cannot say. */
function buildsOf(c: Case, info: DeviceInfo): Build[] {
  try {
    if (c.unsupported(info) !== undefined) return [];
    const builds = [...c.candidates(info)]
      .filter(({ illegal }) => illegal === undefined)
      .flatMap(({ config }) => [...c.builds(config)]);
    // Whatever a user's kernel gives in the place of a URL fails here, not among others'.
    builds.forEach(buildText);
    return builds;
  } catch {
    // A user's kernel may throw anything: it does so again when its case is run, and
    // that row says it. The other cases are to be built all the same.
    return [];
  }
}

const encoder = new TextEncoder();

function writeAll(text: string): void {
  let bytes = encoder.encode(text);
  while (bytes.length) bytes = bytes.subarray(Deno.stdout.writeSync(bytes));
}
