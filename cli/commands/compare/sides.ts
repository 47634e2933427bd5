/**
 * Resolves the sides of `compare A B`: kernels of a suite and kernel files, and the points that
 * both can run at.
 *
 * @module
 */

import { unlessMissing } from "../../../bench/files/disk.ts";
import { UserError } from "../../../bench/model/errors.ts";
import { isPythonCase } from "../../../bench/model/peer.ts";
import type { Case } from "../../../bench/model/suite.ts";
import {
  besidePeers,
  isSource,
  nothing,
  unknown,
} from "../../../session/cases.ts";
import type {
  Choice,
  ComparedRuns,
  PeerChoice,
} from "../../../session/options.ts";
import { select, type Selected } from "../../../session/select.ts";
import { askKernel } from "../../../session/suite_calls.ts";
import { builtInSuites } from "../../../suites/mod.ts";
import { logLine } from "../../terminal/output.ts";
import type { Side } from "./turns.ts";

/** A and B as they are typed. */
export type Names = readonly [string, string];

/** Both sides on one device, and their cases at each point. */
export interface Sides {
  readonly selected: Readonly<Record<Side, Selected>>;
  readonly pairs: readonly CasePair[];
}

/** The cases of one point. */
export type CasePair = Readonly<Record<Side, Case>>;

/**
 * Returns whether `names` are of kernels and not of rows.
 *
 * @throws {UserError} Where one is of neither, and where one is a kernel and the other is not.
 */
export async function areKernels(
  names: Names,
  { suites }: Pick<Choice, "suites">,
): Promise<boolean> {
  // Those of a suite file are looked up when it is loaded.
  const known = suites.length > 0 ? undefined : await allKernels();
  const isKernel = (name: string) =>
    isSource(name) || (known?.includes(name) ?? !isPath(name));
  const strange = names.find((name) => !isKernel(name) && !isPath(name));
  if (strange !== undefined) {
    const { message } = unknown("kernel", strange, known!);
    throw new UserError(`No file or folder is named ${strange}. ${message}`);
  }
  const [first, second] = names.map(isKernel);
  if (first === second) return first!;
  const [kernel, rows] = first ? names : names.toReversed();
  throw new UserError(
    `Cannot compare the kernel ${kernel} with the rows of ${rows}: give two kernels or .c, .cu, .hip, .metal or .py files, or two sets of rows`,
  );
}

function isPath(name: string): boolean {
  return /[/\\*]|\.\w+$/.test(name) ||
    unlessMissing(() => Deno.statSync(name)) !== undefined;
}

async function allKernels(): Promise<readonly string[]> {
  const suites = await besidePeers(await builtInSuites(), "torch");
  return suites.flatMap(({ kernels }) => kernels.map(({ name }) => name));
}

type Options = ComparedRuns & PeerChoice;

/**
 * Selects the device and the cases of the kernels `names`. It says what was inferred, and which
 * points only one of them has.
 *
 * @throws {UserError} Where they run on different backends or share no point.
 */
export async function selectSides(
  names: Names,
  options: Options,
): Promise<Sides> {
  if (options.kernels.length > 0) {
    throw new UserError(
      `Give kernels without --kernel: compare ${names.join(" ")}`,
    );
  }
  const files = await Promise.all(names.map(fileOf));
  const file = files[0] ?? files[1];
  if (file !== undefined && options.suites.length > 0) {
    throw new UserError(
      `Cannot take both a kernel file and --suite ${options.suites.join()}: leave out one`,
    );
  }
  const common = file === undefined
    ? options.suites.length > 0 ? {} : await usualFor(names, options)
    : { suites: [file.name] };
  const selectOne = (side: 0 | 1, backend: string | undefined) => {
    const { name, kernel } = files[side] ?? { kernel: names[side] };
    const own = name === undefined ? {} : { suites: [name] };
    return select({
      ...options,
      ...common,
      ...own,
      kernels: [kernel],
      backend,
    });
  };
  const base = await selectOne(0, options.backend ?? file?.backend);
  const { name: backend } = base.backend;
  const stray = files.findIndex((one) => (one?.backend ?? backend) !== backend);
  if (stray >= 0) {
    throw new UserError(
      `Cannot compare on ${backend}: ${names[stray]} is for ${
        files[stray]!.backend
      }; give two kernels of one backend`,
    );
  }
  const next = await selectOne(1, backend);
  if (options.peers !== undefined && !areWithPeer([base, next], files)) {
    throw new UserError(
      `Cannot use --peers ${options.peers}: neither ${names[0]} nor ${
        names[1]
      } is one of these peers; name one as A or B, or leave out --peers`,
    );
  }
  for (const note of base.notes) logLine(note);
  const selected = { base, next };
  return { selected, pairs: pairsOf(selected, names) };
}

/** Returns whether a side is a peer: what Python runs, and no file. */
function areWithPeer(
  sides: readonly Selected[],
  files: readonly unknown[],
): boolean {
  return sides.some(({ cases }, i) =>
    files[i] === undefined && cases.some(isPythonCase)
  );
}

/** What is inferred from a kernel file; nothing of another name. */
async function fileOf(name: string) {
  if (!isSource(name)) return undefined;
  const { inferSource } = await import(
    "../../../session/source/source_suite.ts"
  );
  const { note, kernel, backend } = inferSource(name);
  logLine(note);
  return { name, kernel, backend };
}

/** The first built-in suite that has both kernels, at its quick points unless others are named. */
async function usualFor(
  names: Names,
  { overrides, where, peers, backend }: Options,
): Promise<{ readonly suites: readonly string[]; readonly quick: boolean }> {
  const suites = await besidePeers(await builtInSuites(), peers);
  const suite = suites.find(({ kernels }) => {
    const [first, second] = names.map((name) =>
      kernels.filter((one) => one.name === name).map((one) => one.backend)
    );
    return first!.some((one) =>
      second!.includes(one) && one === (backend ?? one)
    );
  });
  if (suite === undefined) {
    const hint = peers === undefined ? "; peers need --peers torch" : "";
    throw nothing(
      `no built-in suite has both ${
        names.join(" and ")
      } on one backend; name one of yours with --suite${hint}`,
    );
  }
  const quick = Object.keys({ ...overrides, ...where }).length === 0;
  logLine(
    `In ${suite.name}${
      quick ? ", at its quick points" : ""
    }: --suite, --m, --n and --k choose others`,
  );
  return { suites: [suite.name], quick };
}

function pairsOf(
  { base, next }: Sides["selected"],
  names: Names,
): readonly CasePair[] {
  const [own, other] = [base, next].map(({ selection }) =>
    selection.suites.join("\0")
  );
  const pointOf = ({ suite, problem: { op, key } }: Case) =>
    JSON.stringify([own === other ? suite : "", op, key]);
  const nexts = new Map(next.cases.map((one) => [pointOf(one), one]));
  const shared = base.cases.flatMap((one): readonly CasePair[] => {
    const other = nexts.get(pointOf(one));
    return other === undefined ? [] : [{ base: one, next: other }];
  });
  if (shared.length === 0) {
    const [a, b] = [base, next].map(({ cases }) => cases[0]!.problem.title);
    throw nothing(
      `${names[0]} is at ${a} and others, ${
        names[1]
      } at ${b} and others, and none is the same; give both the same --m, --n, --k and --axis`,
    );
  }
  const able = shared.filter((pair) => {
    const why = [pair.base, pair.next].map((one) =>
      askKernel(one, "unsupported()", () => one.unsupported(base.info))
    );
    const at = why.findIndex((one) => one !== undefined);
    if (at < 0) return true;
    logLine(
      `Left out ${pair.base.problem.title}: ${names[at]} cannot run there, ${
        why[at]
      }`,
    );
    return false;
  });
  if (able.length > 0) return able;
  throw nothing(
    `${names.join(" and ")} can run together at none of the points`,
  );
}
