/**
 * Chooses what `export` writes, compiles it and writes the folder.
 *
 * @module
 */

import { dirname, join, resolve } from "node:path";
import { BinaryCache } from "../../../bench/device/binary_cache.ts";
import type { Backend, DeviceInfo } from "../../../bench/device/device.ts";
import { onDisk, readable, unlessMissing } from "../../../bench/files/disk.ts";
import { claimFolder } from "../../../bench/files/lock.ts";
import { parseValues } from "../../../bench/model/grid.ts";
import { chosenBy } from "../../../bench/tune/auto.ts";
import { counted } from "../../../bench/files/terminal_text.ts";
import { EXIT, UserError } from "../../../bench/model/errors.ts";
import {
  type Case,
  defineSuite,
  type Suite,
} from "../../../bench/model/suite.ts";
import { isAuto } from "../../../bench/tune/auto_kernel.ts";
import { noOverlap } from "../../../kernels/common/rules.ts";
import { ops, type RegisteredOp } from "../../../kernels/mod.ts";
import {
  besideAuto,
  casesWithin,
  choose,
  type Filter,
  nothing,
  unknown,
} from "../../../session/cases.ts";
import { HOME, kernelCacheOf, NAME, VERSION } from "../../../session/home.ts";
import { backendNamed } from "../../../session/take_device.ts";
import type { Choice } from "../../../session/options.ts";
import { logLine, printLine, Progress } from "../../terminal/output.ts";
import { archInfo, buildAll } from "../build/kernels.ts";
import {
  buildsOf,
  type Exported,
  headerText,
  imageOf,
  PDL_CONTRACT,
  prefixOf,
} from "./header.ts";
import launchHeader from "./launch.h" with { type: "text" };
import matmulModule from "./mnk_matmul.py" with { type: "text" };
import matmulTest from "./test_matmul.c" with { type: "text" };
import matmulModuleTest from "./test_matmul.py" with { type: "text" };
import matmulOperator from "./torch_matmul.cpp" with { type: "text" };
import { startsEarly } from "./record.ts";
import { type PlanTable, ROW_AXIS, tablesOf } from "./tables.ts";

/** What `export` is asked for. */
export interface ExportOptions extends Choice {
  /** The name of the operation. @default {that of the suites} */
  readonly op: string | undefined;
  readonly arch: string;
  /** Whether a call starts before the launch before it ends, where its kernel can. */
  readonly pdl: boolean;
  /** The folder to write. */
  readonly out: string;
  readonly kernelCache: string | undefined;
}

/** The kernel that chooses one of the others. */
const AUTO = "auto";
/** The backend whose kernels are exported. */
const BACKEND = "cuda";

/**
 * Writes the export that `options` name.
 *
 * @param backend What compiles. @default {CUDA}
 * @returns The exit code.
 * @throws {UserError}
 */
export async function exportKernels(
  options: ExportOptions,
  backend?: Backend,
): Promise<number> {
  const { arch, out, pdl } = options;
  const { info, backend: own } = archInfo(arch);
  if (own !== BACKEND) {
    throw new UserError(
      `Cannot export for ${arch}: only CUDA kernels are exported; give an architecture such as sm_90a`,
    );
  }
  const old = pdl ? noOverlap(info) : undefined;
  if (old) {
    throw new UserError(`Cannot export with --pdl: ${old}; leave out --pdl`);
  }
  demandEmpty(out);
  const { registered, cases } = await chosen(options);
  const { op } = registered;
  const points = new Set(cases.map(({ problem }) => problem.title)).size;
  let tables: readonly PlanTable[];
  {
    using progress = new Progress("export", points);
    const step = () => progress.step({ failed: 0 });
    tables = tablesOf(cases, { op, info, pdl, step });
  }
  const rows = tables.flatMap((table) => table.rows);
  const early = rows.filter(({ plan }) => startsEarly(plan)).length;
  if (pdl && early === 0) {
    throw new UserError(
      "Cannot export with --pdl: no chosen kernel starts before the launch before it ends; put one that does first in --kernel, or leave out --pdl",
    );
  }
  const image = await compiled(tables, {
    info,
    backend: backend ?? await backendNamed(BACKEND),
    kernelCache: options.kernelCache,
  });
  if (image === undefined) return EXIT.failed;
  const origin = `Made by ${NAME} ${VERSION} for ${arch}.`;
  writeFolder(out, filesOf({ op, arch, tables, image, pdl, origin }));
  const units = image.offsets.length;
  printLine(
    `${out}: ${counted(points, "shape")} in ${counted(rows.length, "row")}${
      pdl ? ` (${early} with PDL)` : ""
    }, ${counted(units, "binary", "binaries")}, ${image.bytes.length} bytes`,
  );
  for (const line of kernelLines(tables)) logLine(line);
  return EXIT.ok;
}

/** Tables that are listed. */
const MOST_TABLES = 6;

/** Returns a line for each table: its types, layout and sizes, and the kernel of each range of M. */
export function kernelLines(
  tables: readonly PlanTable[],
): readonly string[] {
  const lines = tables.slice(0, MOST_TABLES).map(({ label, rows }) => {
    const spans: { from: number; to: number; kernel: string }[] = [];
    for (const { from, to, plan } of rows) {
      const [name, ...config] = plan.note.split(" ");
      // The config of `auto` names the kernel that it chose.
      const kernel = chosenBy(parseValues(config.join(" ")))?.kernel ?? name!;
      const last = spans.at(-1);
      if (last?.kernel === kernel && last.to + 1 === from) last.to = to;
      else spans.push({ from, to, kernel });
    }
    const texts = spans.map(({ from, to, kernel }) =>
      `${from === to ? from : `${from}..${to}`} ${kernel}`
    );
    return `  ${label}: M = ${texts.join(", ")}`;
  });
  const more = tables.length - lines.length;
  return more > 0 ? [...lines, `  and ${counted(more, "more table")}`] : lines;
}

/** The cases to export, those of a point in the order of `--kernel`, and their operation. */
async function chosen(
  { op: wanted, suites, kernels: names, overrides, where, quick, pdl }:
    ExportOptions,
): Promise<
  { readonly registered: RegisteredOp; readonly cases: readonly Case[] }
> {
  const kernels = names.length > 0 ? names : [AUTO];
  const named = wanted === undefined ? undefined : registeredAs(wanted);
  if (named && suites.length === 0) {
    const [suite] = await besideAuto(
      [ownSuite(named, { kernels, overrides })],
      kernels,
      pdl,
    );
    const [axis] = Object.keys(where);
    if (axis !== undefined) {
      throw new UserError(
        `Cannot choose by --where without --suite: give --axis ${axis}=${
          where[axis]!.join()
        }, or --suite`,
      );
    }
    const filter: Filter = {
      kernels,
      points: "all",
      overrides: {},
      where,
      backend: BACKEND,
    };
    return { registered: named, cases: casesOf([suite!], filter, kernels) };
  }
  if (suites.length === 0) {
    throw new UserError(
      "Cannot export without shapes: give --op with --m, --n and --k, or --suite",
    );
  }
  const { suites: loaded, filter } = await choose({
    suites,
    kernels,
    overrides,
    where,
    quick,
    early: pdl,
  });
  const of = [...new Set(loaded.map(({ op }) => op))];
  if (of.length > 1 || (named && named.op.name !== of[0])) {
    throw new UserError(
      `Cannot export suites of ${of.join(" and ")}${
        named ? ` as ${named.op.name}` : ""
      }: name suites of one operation`,
    );
  }
  return {
    registered: registeredAs(of[0]!),
    cases: casesOf(loaded, { ...filter, backend: BACKEND }, kernels),
  };
}

/** The operation named `name`, which can be exported. @throws {UserError} */
function registeredAs(name: string): RegisteredOp {
  const found = ops.find(({ op }) => op.name === name);
  if (!found) throw unknown("operation", name, ops.map(({ op }) => op.name));
  const axis = found.op.axes.find((one) => one.name === ROW_AXIS);
  if (axis?.values === "size") return found;
  throw new UserError(
    `Cannot export ${name}: its kernels read tables of problems that are made for one call; export another operation`,
  );
}

/** A suite of the points that `--axis`, `--m`, `--n` and `--k` name. */
function ownSuite(
  { op, kernels: all }: RegisteredOp,
  { kernels, overrides }: Pick<ExportOptions, "kernels" | "overrides">,
): Suite {
  const own = all.filter(({ backend, python }) =>
    backend === BACKEND && python === undefined
  );
  for (const name of kernels) {
    if (!isAuto(name) && !own.some((kernel) => kernel.name === name)) {
      throw unknown("kernel", name, own.map((kernel) => kernel.name));
    }
  }
  if (Object.keys(overrides).length === 0) {
    throw new UserError(
      "Cannot export without shapes: give --m, --n and --k, as in --m 1:512 --n 4096 --k 4096, or --suite",
    );
  }
  return defineSuite({
    name: op.name,
    title: op.name,
    op,
    axes: overrides,
    kernels: own,
    baselines: [],
  });
}

function casesOf(
  suites: readonly Suite[],
  filter: Filter,
  kernels: readonly string[],
): readonly Case[] {
  const cases = casesWithin(suites, filter);
  if (cases.length === 0) throw nothing("no CUDA kernel is selected");
  const place = ({ kernel }: Case) => kernels.indexOf(kernel);
  return cases.toSorted((a, b) => place(a) - place(b));
}

/** Compiles what `tables` launch; nothing where a unit cannot be compiled, which is said. */
async function compiled(
  tables: readonly PlanTable[],
  { info: { arch }, backend, kernelCache }: {
    readonly info: DeviceInfo;
    readonly backend: Backend;
    readonly kernelCache: string | undefined;
  },
) {
  const builds = buildsOf(tables);
  const cache = new BinaryCache(kernelCacheOf(kernelCache), { note: logLine });
  const { paths, failed } = await buildAll(builds, { cache, backend, arch });
  return failed > 0
    ? undefined
    : imageOf(await Promise.all(paths.map((path) => Deno.readFile(path!))));
}

/** A file of an export. */
interface OutFile {
  readonly name: string;
  readonly content: string | Uint8Array<ArrayBuffer>;
}

/** What stands beside the header of an operation. */
function beside({ op, pdl }: Exported): readonly OutFile[] {
  if (op.name !== "matmul") return [];
  return [
    { name: "test_matmul.c", content: matmulTest },
    { name: "mnk_matmul.py", content: moduleText(pdl) },
    { name: "torch_matmul.cpp", content: matmulOperator },
    { name: "test_matmul.py", content: matmulModuleTest },
  ];
}

/** The PyTorch module: with `pdl` its documentation says what a caller must know. */
function moduleText(pdl: boolean): string {
  const next = "\nIt runs on the current stream";
  const contract = ["", ...PDL_CONTRACT, "`b` holds the weights.", next];
  return pdl ? matmulModule.replace(next, contract.join("\n")) : matmulModule;
}

/** The files of an export. */
function filesOf(exported: Exported): readonly OutFile[] {
  const prefix = prefixOf(exported.op);
  return [
    { name: "mnk_launch.h", content: launchHeader },
    { name: `${prefix}.h`, content: headerText(exported) },
    { name: `${prefix}.bin`, content: exported.image.bytes },
    ...beside(exported),
    {
      name: "LICENSE",
      content: Deno.readTextFileSync(join(HOME, "LICENSE")),
    },
  ];
}

/** @throws {UserError} Where something is at `folder` that is no empty folder. */
function demandEmpty(folder: string): void {
  const there = readable(
    folder,
    () => unlessMissing(() => [...Deno.readDirSync(folder)]),
  );
  if (!there || there.length === 0) return;
  throw new UserError(
    `Cannot export into ${folder}: it is not empty; name a new folder`,
  );
}

/** Writes `files` into `folder`, all of them or none. @throws {UserError} */
function writeFolder(folder: string, files: readonly OutFile[]): void {
  const target = resolve(folder);
  onDisk(folder, () => {
    Deno.mkdirSync(dirname(target), { recursive: true });
    // In the same folder, as a rename across file systems is a copy.
    // Those of ended exports are removed by their prefix, so nobody else's may have it.
    using staging = claimFolder(".mnkbench-export-", dirname(target));
    const made = join(staging.path, "export");
    Deno.mkdirSync(made);
    for (const { name, content } of files) {
      const bytes = typeof content === "string"
        ? new TextEncoder().encode(content)
        : content;
      Deno.writeFileSync(join(made, name), bytes);
    }
    // It takes the place of an empty folder.
    Deno.renameSync(made, target);
  });
}
