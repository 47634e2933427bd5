/**
 * Compares what a program spends on its GEMMs with the recorded rows of the same GEMMs.
 *
 * @module
 */

import type { Captured } from "../../bench/model/captured.ts";
import { counted } from "../../bench/files/terminal_text.ts";
import { AXIS_COLUMNS } from "../../bench/model/problem.ts";
import type { CsvRow } from "../../bench/row/csv_row.ts";
import { isPublished } from "../../bench/row/row.ts";
import { soundTimeOf } from "../../report/model/sol.ts";
import {
  byTiming,
  largest,
  type TimingChoice,
} from "../../report/model/timing.ts";
import type {
  Measured,
  WeightLine,
  Weights,
} from "../../report/table/weights_sheet.ts";
import { BOUND, type CapturedLine, stepOf } from "./lines.ts";
import type { GemmPoint } from "./points.ts";
import { programOf } from "./suites_of.ts";

/** Matches timers of calls in a chain, without programmatic dependent launch (`pdl`). */
const CHAIN = /^chain:\d+$/;

/**
 * For each source of a GEMM: the kernels whose rows stand for what the program runs now, in the
 * order of preference.
 */
const NOW: Readonly<Record<string, readonly string[]>> = {
  cublaslt: ["cublaslt"],
  hipblaslt: ["hipblaslt"],
  torch: ["torch-eager"],
};
/**
 * Kernels of libraries and frameworks, in the order of preference. Their rows stand for what a program
 * runs now if {@linkcode NOW} names none with a row. Those that take a search come last: a program that
 * does not search is not faster than they are.
 */
const LIBRARIES = [
  ...["cublas", "hipblas", "mps", "cublaslt", "hipblaslt", "openblas"],
  ...["torch-eager", "cublaslt-tuned", "hipblaslt-tuned"],
];

/** Returns a table of `captured` for each device that {@linkcode devicesOf} finds in `rows`. */
export function weightsOf(
  captured: Captured,
  rows: readonly CsvRow[],
  { suite, ...timing }: TimingChoice & {
    /** The command line that measures the GEMMs without rows. */
    readonly suite: string;
  },
): Weights[] {
  const step = stepOf(captured);
  const byKey = Map.groupBy(rows.filter((row) => !isPublished(row)), rowKey);
  return devicesOf(captured, rows, step.gemms).map((device): Weights => {
    const gemms = step.gemms.map((line) =>
      weighed(line, {
        timing,
        rows: line.point === undefined
          ? []
          : (byKey.get(pointKey(line.point)) ?? [])
            .filter((row) => row.device === device),
      })
    );
    const missing = gemms.filter(({ state }) => state === "not measured");
    const alone = gemms.filter(({ measured }) =>
      measured !== undefined && measured.now === undefined
    );
    const on = device === undefined ? "" : ` on ${device}`;
    const from = captured.device === undefined
      ? ""
      : `, captured on ${captured.device.name}`;
    return {
      title: `${programOf(captured)}${from}${on && `, measured${on}`}`,
      lines: [...gemms, ...step.rest.map(restLine)],
      ms: step.ms,
      unit: step.unit,
      notes: [
        ...(step.of === "bound"
          ? [`no time was captured: shares are of ${BOUND}`]
          : []),
        ...busyNote(captured),
        ...(missing.length > 0
          ? [`${countOf(missing, gemms)} not measured${on}: \`${suite}\``]
          : []),
        ...(alone.length > 0
          ? [
            `${
              countOf(alone, gemms)
            } without a library's time${on}: \`${suite}\``,
          ]
          : []),
        ...[...Map.groupBy(
          step.gemms.filter(({ why }) => why !== undefined),
          ({ why }) => why,
        )].map(([why, own]) =>
          `no op: ${own.map(({ label }) => label).join(", ")}: ${why}`
        ),
        ...captured.notes,
      ],
    };
  });
}

/** Says in which part of the window kernels ran: shares are relative to the time of kernels alone. */
function busyNote(
  { gpu_busy_us, window_s }: Captured,
): readonly string[] {
  if (gpu_busy_us === undefined || window_s === 0) return [];
  const part = 100 * gpu_busy_us / 1e6 / window_s;
  return [
    `the GPU was busy for ${part.toFixed(1)} % of ${
      Number(window_s.toPrecision(3))
    } s`,
  ];
}

function countOf(some: readonly unknown[], all: readonly unknown[]): string {
  return `${some.length} of ${counted(all.length, "GEMM")}`;
}

/**
 * Returns the devices with rows of one of `gemms`. If the captured device is among them, only that one
 * is returned. If there is none, `undefined` is returned for a table without measured times.
 */
function devicesOf(
  captured: Captured,
  rows: readonly CsvRow[],
  gemms: readonly CapturedLine[],
): readonly (string | undefined)[] {
  const points = new Set(
    gemms.flatMap(({ point }) => point === undefined ? [] : [pointKey(point)]),
  );
  const devices = [
    ...new Set(
      rows.filter((row) => points.has(rowKey(row))).map(({ device }) => device),
    ),
  ];
  const own = captured.device?.name;
  if (devices.length === 0) return [undefined];
  return own !== undefined && devices.includes(own) ? [own] : devices;
}

function weighed(
  line: CapturedLine,
  { rows, timing: { timer, cache } }: {
    readonly rows: readonly CsvRow[];
    readonly timing: TimingChoice;
  },
): WeightLine {
  const { label, names, source, calls, ms, share, point } = line;
  const own = rows.filter((row) =>
    (timer === undefined
      ? !row.timer.startsWith("chain:")
      : row.timer === timer) &&
    (cache === undefined || row.cache === cache)
  );
  const chained = rows.filter((row) => CHAIN.test(row.timer));
  const measured = measuredOf(own, source);
  return {
    label: source === "model" ? `${names.join(", ")} ${label}` : label,
    calls,
    ms,
    share,
    state: point === undefined
      ? "no op"
      : measured === undefined
      ? "not measured"
      : "measured",
    measured,
    chained: chainedOf(chained, measured),
  };
}

/**
 * Returns the row of what the program runs now, and the fastest row. Rows of one suite and timing are
 * compared: of several, those with a row of what runs now, and of these the largest group.
 */
function measuredOf(
  rows: readonly CsvRow[],
  source: string,
): Measured | undefined {
  const timed = rows.filter((row) => soundTimeOf(row) !== undefined);
  if (timed.length === 0) return undefined;
  const nowOf = (group: readonly CsvRow[]) =>
    [...NOW[source] ?? [], ...LIBRARIES]
      .map((name) => group.find(({ kernel }) => kernel === name))
      .find((row) => row !== undefined);
  const groups = byTiming(timed);
  const known = groups.filter((group) => nowOf(group) !== undefined);
  const own = largest(known.length > 0 ? known : groups);
  return { now: nowOf(own), fastest: fastestOf(own) };
}

/**
 * Returns the rows of the two kernels of `measured` among `rows`, which were timed in chains. If the
 * fastest kernel has no row there, the fastest row of a chain takes its place.
 */
function chainedOf(
  rows: readonly CsvRow[],
  measured: Measured | undefined,
): Measured | undefined {
  const timed = rows.filter((row) => soundTimeOf(row) !== undefined);
  if (measured?.now === undefined || timed.length === 0) return undefined;
  const own = largest(byTiming(timed));
  const rowOf = ({ kernel, backend }: CsvRow) =>
    own.find((row) => row.kernel === kernel && row.backend === backend);
  const now = rowOf(measured.now);
  const fastest = rowOf(measured.fastest) ?? fastestOf(own);
  return now === undefined ? undefined : { now, fastest };
}

function fastestOf(rows: readonly CsvRow[]): CsvRow {
  return rows.reduce((a, b) => soundTimeOf(b)! < soundTimeOf(a)! ? b : a);
}

function restLine({ label, calls, ms, share }: CapturedLine): WeightLine {
  return { label, calls, ms, share, state: "other" };
}

function pointKey({ op, key }: GemmPoint): string {
  const columns = [...AXIS_COLUMNS, "params"] as const;
  return JSON.stringify([op, ...columns.map((column) => `${key[column]}`)]);
}

function rowKey(row: CsvRow): string {
  const columns = [...AXIS_COLUMNS, "params"] as const;
  return JSON.stringify([row.op, ...columns.map((column) => row[column])]);
}
