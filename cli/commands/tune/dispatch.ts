/**
 * `tune --dispatch`: which kernel and config to use in which range of a size.
 *
 * @module
 */

import { resolve } from "node:path";
import {
  dispatchRanges,
  type Measurement,
  probesOf,
  type Span,
} from "../../../bench/tune/dispatch.ts";
import {
  dispatchHeader,
  type DispatchTable,
} from "../../../bench/tune/dispatch_header.ts";
import {
  assertWritable,
  type FileKind,
  refuseOther,
  replaceFile,
} from "../../../bench/files/replace.ts";
import { counted } from "../../../bench/files/terminal_text.ts";
import { EXIT, UserError } from "../../../bench/model/errors.ts";
import type { Case, Suite } from "../../../bench/model/suite.ts";
import { caseText, keyOf } from "../../../bench/row/row.ts";
import { allSelectionArgs } from "../../terminal/next_command.ts";
import {
  dispatchJson,
  dispatchLines,
  type Group,
  groupsOf,
  titleOf,
} from "./dispatch_table.ts";
import { VERSION } from "../../../session/home.ts";
import { formatSeconds, logLine, printLine } from "../../terminal/output.ts";
import { select, type Selected } from "../../../session/select.ts";
import { exitCodeOf } from "../../../session/run_job.ts";
import {
  tuneCases,
  type TunedCase,
  type TuneOptions,
  type TuneSession,
} from "./session.ts";
import { settingsOf } from "../../../session/options.ts";

/** Kernels this many times slower than the best, at every size of a range, are out of it. */
const HOPELESS = 1.5;

/** Options of `tune --dispatch`. */
interface DispatchOptions extends TuneOptions {
  readonly out: string | undefined;
  readonly header: string | undefined;
}

/** Tunes at every size, then compares the winners within each range. */
export async function writeDispatch(
  options: DispatchOptions,
  { axis, spans }: { readonly axis: string; readonly spans: readonly Span[] },
): Promise<number> {
  const start = performance.now();
  refuseOptions(options, axis);
  const sizes = spans.flatMap(probesOf);
  const selected = await select({ ...options, sizes: { [axis]: sizes } });
  for (const note of selected.notes) logLine(note);
  // A CPU takes minutes for all suites: without a choice it has one, as the device has a few shapes.
  const [first] = selected.suites;
  const cases = selected.cases.filter((c) =>
    c.follows === undefined && (!selected.preset || c.suite === first!.name)
  );
  if (selected.preset) {
    logLine(
      `Only quick shapes of ${first!.name}, as this is a CPU: --suite ${
        first!.name
      } takes all, --suite NAME others`,
    );
  }
  refuseAxis(cases, { axis, suites: selected.suites });
  const settings = settingsOf(options, { tune: true });
  const session: TuneSession = { settings, timeout: options.timeout };
  logLine(
    `Tuning ${counted(cases.length, "case")} at ${axis} = ${
      sizes.join(", ")
    }, then timing each range's winners at its other sizes; --suite and --kernel choose fewer`,
  );
  const { done: tuned } = await tuneCases({ ...selected, cases }, session);
  if (tuned.length < cases.length) return stopped();
  const groups = groupsOf(tuned, { axis, suites: selected.suites });
  const probed = await compare(groups, { spans, selected, session });
  if (probed === undefined) return stopped();
  const tables = groups.map((group): DispatchTable => ({
    op: group.op,
    axis,
    axes: group.axes,
    ranges: dispatchRanges(spans, measurementsOf(group, probed)),
  })).filter(({ ranges }) => ranges.length > 0);
  if (tables.length === 0) {
    throw new UserError(
      `No kernel ran at any of these sizes, so there is nothing to dispatch: look at them with \`${
        ["mnkbench check", ...allSelectionArgs({ ...selected, settings })].join(
          " ",
        )
      }\``,
      EXIT.failed,
    );
  }
  for (const group of groups) {
    const bare = sizes.filter((size) =>
      !group.cases.some(({ at }) => at === size)
    );
    if (bare.length === 0) continue;
    logLine(
      `Nothing ran at ${axis} = ${bare.join(", ")} of ${
        titleOf(group)
      }: no range has it`,
    );
  }
  show(tables, { options, selected });
  logLine(`Took ${formatSeconds((performance.now() - start) / 1000)}`);
  return exitCodeOf([...tuned, ...probed].map(({ row }) => row));
}

function stopped(): number {
  logLine(
    "Stopped: the same command goes on with what is not in the cache yet",
  );
  return EXIT.failed;
}

/**
 * Times at each size of a range what won at its others: nothing where it was stopped.
 */
async function compare(
  groups: readonly Group[],
  { spans, selected, session }: {
    spans: readonly Span[];
    selected: Selected;
    session: TuneSession;
  },
): Promise<readonly TunedCase[] | undefined> {
  const probes: Record<string, readonly string[]> = {};
  for (const group of groups) {
    for (const span of spans) {
      for (const [key, configs] of contestants(group, span)) {
        probes[key] = configs;
      }
    }
  }
  const cases = selected.cases.filter((one) =>
    Object.hasOwn(probes, caseText(keyOf(one)))
  );
  logLine(`Timing the winners of ${counted(cases.length, "case")}`);
  const { done } = await tuneCases(
    { ...selected, cases },
    { ...session, probes },
  );
  return done.length < cases.length ? undefined : done;
}

/** The configs to time at each case of a range: those that won at one of its sizes. */
function contestants(
  { cases }: Group,
  { from, to }: Span,
): readonly (readonly [string, readonly string[]])[] {
  const inside = cases.filter(({ at }) => from <= at && at <= to);
  const best = new Map<number, number>();
  for (const { at, us } of inside) {
    best.set(at, Math.min(best.get(at) ?? Infinity, us));
  }
  const kernels = Map.groupBy(inside, ({ kernel }) => kernel);
  return [...kernels.values()].filter((own) =>
    own.some(({ at, us }) => us <= HOPELESS * best.get(at)!)
  ).flatMap((own) => {
    const winners = [...new Set(own.map(({ config }) => config))];
    return own.map(({ key, legal }) =>
      [key, winners.filter((config) => legal.has(config))] as const
    );
  });
}

function measurementsOf(
  group: Group,
  probed: readonly TunedCase[],
): readonly Measurement[] {
  const sizes = new Map(group.cases.map(({ key, at }) => [key, at]));
  return probed.flatMap(({ one, tuned, row }) => {
    const at = sizes.get(caseText(row.key));
    if (at === undefined || !tuned) return [];
    return tuned.finalists.map(({ config, us }) => ({
      at,
      option: { kernel: one.kernel, config },
      us,
    }));
  });
}

function show(
  tables: readonly DispatchTable[],
  { options, selected }: { options: DispatchOptions; selected: Selected },
): void {
  const { info } = selected;
  const origin = {
    device: info.name,
    arch: info.arch,
    driver: info.driver,
    date: new Date().toISOString(),
    harness: VERSION,
  };
  const json = dispatchJson(tables, origin);
  if (options.json) printLine(json.trimEnd());
  else for (const line of dispatchLines(tables)) printLine(line);
  const files = [
    [options.out, () => json],
    [options.header, () => dispatchHeader(tables, origin)],
  ] as const;
  for (const [path, text] of files) {
    if (path === undefined) continue;
    replaceFile(path, text());
    logLine(`Wrote ${path}`);
  }
}

const TABLE: FileKind = {
  head: /^\{\s*"format": "mnkbench dispatch table"/,
  name: "dispatch table",
};
const HEADER: FileKind = {
  head: /^\/\* Which kernel and config to use, measured by mnkbench/,
  name: "header of a dispatch table",
};

/**
 * Refuses options that contradict `--dispatch` along `axis`, and files that cannot be written.
 *
 * @throws {UserError} For the first of them.
 */
function refuseOptions(
  options: Pick<DispatchOptions, "overrides" | "out" | "header">,
  axis: string,
): void {
  const { out, header } = options;
  if (options.overrides[axis] !== undefined) {
    throw new UserError(
      `Cannot take sizes along ${axis} from both --dispatch and --${axis} (or --axis): leave out one`,
    );
  }
  const files = [out, header].filter((path) => path !== undefined)
    .map((path) => resolve(path));
  if (new Set(files).size < files.length) {
    throw new UserError(
      `Cannot write a table and a header to one file, ${out}: name another with --out or --header`,
    );
  }
  for (const file of files) assertWritable(file);
  if (out !== undefined) refuseOther(out, TABLE);
  if (header !== undefined) refuseOther(header, HEADER);
}

/**
 * Refuses an axis along which there are no ranges: one without numbers, and one of lists of
 * sizes, of which each is another problem.
 *
 * @throws {UserError} For the first suite that has such an axis.
 */
function refuseAxis(
  cases: readonly Case[],
  { axis, suites }: { axis: string; suites: readonly Suite[] },
): void {
  const used = new Set(cases.map(({ suite }) => suite));
  for (const { name, axes } of suites.filter((suite) => used.has(suite.name))) {
    const values = axes.find((one) => one.name === axis)?.values;
    if (values === "size") continue;
    throw new UserError(
      `Cannot make ranges along ${axis} for suite ${name}: ${
        values === "sizes"
          ? "its points have a list of sizes there"
          : `its values are ${values?.join(", ")}`
      }; give an axis of sizes, such as ${
        axes.filter((one) => one.values === "size").map((one) => one.name)
          .join(" or ") || "that of another suite"
      }`,
    );
  }
}
