/**
 * Compares the GPUs of a host: the same cases measured alone and together on each.
 *
 * @module
 */

import type { DeviceInfo } from "../../../bench/device/device.ts";
import { aligned, counted } from "../../../bench/files/terminal_text.ts";
import { geomean } from "../../../bench/measure/stats.ts";
import { EXIT, UserError } from "../../../bench/model/errors.ts";
import { DEFAULTS, type Settings } from "../../../bench/model/settings.ts";
import { kernelCacheOf } from "../../../session/home.ts";
import {
  jobOf,
  Measured,
  type ProgressView,
} from "../../../session/run_job.ts";
import { select, type Selected } from "../../../session/select.ts";
import {
  Interrupt,
  logLine,
  printLine,
  Progress,
} from "../../terminal/output.ts";

/** Small shapes of a suite that every backend has kernels for. */
const SUITE = "matmul-bf16";
/** Times that each device is measured alone, and all together, in turns. */
const PASSES = 2;
/** Kill a case after this many seconds without progress. */
const TIMEOUT = 60;
/** A greater share between devices, or of a device between alone and together, is a warning. */
const MUCH = 0.03;

/** Medians of a device in microseconds, by case. */
export interface Timed {
  readonly info: Pick<DeviceInfo, "index" | "uuid">;
  readonly alone: ReadonlyMap<string, number>;
  readonly together: ReadonlyMap<string, number>;
}

/** How a device compares. */
export interface Compared {
  readonly index: number;
  readonly uuid: string;
  /** Geometric means over the cases that all devices timed: against the mean of all devices. */
  readonly alone: number;
  /** Against alone. */
  readonly together: number;
}

/** How devices compare. */
export interface Comparison {
  readonly cases: number;
  readonly devices: readonly Compared[];
  /** The greatest ratio of a case between two devices, each alone. */
  readonly spread: Extreme;
  /** The ratio of a case on a device, together against alone, that is farthest from 1. */
  readonly shift: Extreme;
}

/** A ratio, and the case that has it. */
interface Extreme {
  readonly ratio: number;
  readonly title: string;
}

/** Compares devices by the cases that all of them timed, alone and together. */
export function compared(all: readonly Timed[]): Comparison {
  const [first] = all;
  const titles = [...first?.alone.keys() ?? []].filter((title) =>
    all.every(({ alone, together }) => alone.has(title) && together.has(title))
  );
  const means = new Map(
    titles.map((title) => [
      title,
      geomean(all.map(({ alone }) => alone.get(title)!))!,
    ]),
  );
  const devices = all.map((
    { info: { index, uuid = "" }, alone, together },
  ) => ({
    index,
    uuid,
    alone: geomean(titles.map((t) => alone.get(t)! / means.get(t)!)) ?? 1,
    together: geomean(titles.map((t) => together.get(t)! / alone.get(t)!)) ?? 1,
  }));
  const spreads = titles.map((title) => {
    const times = all.map(({ alone }) => alone.get(title)!);
    return { title, ratio: Math.max(...times) / Math.min(...times) };
  });
  const shifts = all.flatMap(({ alone, together, info: { index } }) =>
    titles.map((title) => ({
      title: `${title} on device ${index}`,
      ratio: together.get(title)! / alone.get(title)!,
    }))
  );
  return {
    cases: titles.length,
    devices,
    spread: farthest(spreads),
    shift: farthest(shifts),
  };
}

function farthest(all: readonly Extreme[]): Extreme {
  const far = ({ ratio }: Extreme) => Math.abs(Math.log(ratio));
  return all.reduce(
    (a, b) => far(b) > far(a) ? b : a,
    { ratio: 1, title: "every case" },
  );
}

/** Returns lines for people. */
export function formatComparison(
  { cases, devices, spread, shift }: Comparison,
): readonly string[] {
  const table = aligned([
    ["device", "alone vs mean", "together vs alone", "UUID"],
    ...devices.map(({ index, uuid, alone, together }) => [
      ...[`${index}`, percent(alone), percent(together), uuid],
    ]),
  ], new Set([1, 2]));
  const level = (ratio: number) => Math.abs(ratio - 1) > MUCH ? "WARN" : "PASS";
  return [
    ...table,
    `${level(spread.ratio)} between devices, each alone: at most ${
      percent(spread.ratio)
    } (${spread.title})`,
    `${level(shift.ratio)} together against alone: at most ${
      percent(shift.ratio)
    } (${shift.title})`,
    `Geometric means over ${
      counted(cases, "case")
    } of ${SUITE}, each measured ${PASSES} times`,
  ];
}

function percent(ratio: number): string {
  const change = 100 * (ratio - 1);
  return `${change < 0 ? "-" : "+"}${Math.abs(change).toFixed(1)} %`;
}

/** Measures and compares the GPUs that `bench` would take. @returns The exit code. */
export async function examineDevices(json: boolean): Promise<number> {
  const selected = await select({
    suites: [SUITE],
    kernels: [],
    overrides: {},
    where: {},
    quick: true,
    backend: undefined,
    device: 0,
    devices: "all",
  });
  const { backend, infos = [] } = selected;
  if (infos.length < 2) {
    logLine(
      `${backend.name}: one device, which there is nothing to compare with`,
    );
    return EXIT.nothing;
  }
  // The same config on each: what a search chooses differs with the noise.
  const settings: Settings = {
    ...DEFAULTS,
    level: 0,
    cacheDir: kernelCacheOf(undefined),
  };
  using interrupt = new Interrupt();
  const timed = await measureDevices({ ...selected, infos }, settings, {
    signal: interrupt.signal,
    passes: PASSES,
  });
  if (interrupt.signal.aborted) {
    throw new UserError("Stopped before all was measured", EXIT.failed);
  }
  const comparison = compared(timed);
  if (comparison.cases === 0) {
    throw new UserError(
      `Cannot compare the devices: no case was timed on all of them; \`bench --suite ${SUITE} --quick --device all\` says why`,
      EXIT.failed,
    );
  }
  if (json) printLine(JSON.stringify(comparison, null, 2));
  else for (const line of formatComparison(comparison)) printLine(line);
  return EXIT.ok;
}

/** Measures all cases on each device alone, then on all of them together, as often as `passes` says. */
export async function measureDevices(
  { cases, selection, infos }:
    & Pick<Selected, "cases" | "selection">
    & { readonly infos: readonly DeviceInfo[] },
  settings: Settings,
  { signal, passes }: {
    readonly signal: AbortSignal;
    readonly passes: number;
  },
): Promise<readonly Timed[]> {
  const found = infos.map((info) => ({
    info,
    alone: new Measured(),
    together: new Measured(),
  }));
  const total = 2 * passes * infos.length * cases.length;
  using progress = new Progress("doctor", total);
  let done = 0;
  const view: ProgressView = {
    print: (line) => progress.print(line),
    update(change) {
      if (change.done !== undefined) progress.update({ done: ++done });
    },
  };
  const measure = async (into: Measured, { index }: DeviceInfo) => {
    const job = jobOf({
      selection: { ...selection, device: index },
      cases,
      settings,
      run: "doctor",
    });
    await into.measure(job, {
      progress: view,
      timeout: TIMEOUT,
      signal,
      done: 0,
    });
  };
  for (let pass = 0; pass < passes; pass++) {
    for (const { info, alone } of found) await measure(alone, info);
    await Promise.all(
      found.map(({ info, together }) => measure(together, info)),
    );
  }
  return found.map(({ info, alone, together }) => ({
    info,
    alone: mediansOf(alone),
    together: mediansOf(together),
  }));
}

function mediansOf(measured: Measured): ReadonlyMap<string, number> {
  const rows = [...measured.evidence.values()].map(({ row }) => row)
    .filter(({ status }) => status === "ok");
  return new Map(rows.map((row) => [
    `${row.kernel} ${row.m}×${row.n}×${row.k}`,
    Number(row.median_us),
  ]));
}
