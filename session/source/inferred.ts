/**
 * Makes the suite of a kernel file: its kernel beside the built-in ones.
 *
 * @module
 */

import { basename } from "node:path";
import { UserError } from "../../bench/model/errors.ts";
import type { Values } from "../../bench/model/grid.ts";
import type { Kernel } from "../../bench/model/kernel_spec.ts";
import { defineSuite, type Suite } from "../../bench/model/suite.ts";
import { readIfThere } from "../../bench/files/disk.ts";
import { baselines, kernels, matmul } from "../../kernels/matmul/mod.ts";
import type { MatmulPoint } from "../../kernels/matmul/point.ts";
import type { Refuse } from "./settings.ts";
import { suiteName } from "./suite_name.ts";

/** What a source is taken for. */
export interface Inferred {
  readonly suite: Suite;
  /** The name of its kernel in the suite. */
  readonly kernel: string;
  readonly backend: string;
  /** One line on what was inferred, and what changes it. */
  readonly note: string;
}

/** Formats the values of axes that are not the usual ones, such as `, epilogue=relu layout=nt`. */
export function formatFixed({ type: _, epilogue, ...rest }: Values): string {
  const shown = { ...(epilogue === "none" ? {} : { epilogue }), ...rest };
  const parts = Object.entries(shown).map(([name, value]) =>
    `${name}=${value}`
  );
  return parts.length === 0 ? "" : `, ${parts.join(" ")}`;
}

/** Sizes that any kernel takes; a CPU is slow. */
const POINTS = { cpu: [64, 128, 256], gpu: [512, 1024, 2048] };

/** The suite of `kernel`, of the file at `path`, beside the built-in kernels at the values of `fixed`. */
export function suiteOf(
  kernel: Kernel<MatmulPoint>,
  { path, fixed, padding = [] }: {
    readonly path: string;
    readonly fixed: Values;
    /** The strides that it takes. */
    readonly padding?: readonly string[];
  },
): Suite {
  return defineSuite({
    name: suiteName(path),
    title: `${kernel.name} of ${basename(path)}`,
    op: matmul,
    axes: { m: POINTS[kernel.backend === "cpu" ? "cpu" : "gpu"] },
    quick: { m: [POINTS[kernel.backend === "cpu" ? "cpu" : "gpu"][0]!] },
    tie: { n: "m", k: "m" },
    fixed,
    padding,
    kernels: [...kernels, kernel],
    baselines,
  });
}

/** The names of the kernels that a source's own is measured with: itself and the baselines. */
export function comparedKernels(
  { kernel, backend, suite }: Inferred,
): readonly string[] {
  const there = suite.kernels.filter((one) =>
    one.backend === backend && suite.baselines.includes(one.name)
  );
  return [kernel, ...there.map(({ name }) => name)];
}

/** Characters of the longest source, and of the longest line. */
const MOST = { file: 2 ** 22, line: 2 ** 16 };

/**
 * Reads the source file `path`.
 *
 * @throws {UserError} By `refuse`, where it is not there, or too long to be taken apart.
 */
export function readSource(path: string, refuse: Refuse): string {
  const text = readIfThere(path);
  if (text === undefined) return refuse("there is no such file");
  demandShort(text, refuse);
  return text;
}

/** Makes what refuses the source file `path`. */
export function refusing(path: string): Refuse {
  return (why) => {
    throw new UserError(`Cannot use the source file ${path}: ${why}`);
  };
}

/** Returns the name of the kernel `entry`; a built-in kernel of that name is another column. */
export function nameOf(entry: string, backend: string, ending: string): string {
  const taken = kernels.some((k) => k.name === entry && k.backend === backend);
  return taken ? `${entry}${ending}` : entry;
}

function demandShort(text: string, refuse: Refuse): void {
  if (text.length > MOST.file) {
    refuse(
      `it has ${text.length} characters, and ${MOST.file} are the most; leave out data`,
    );
  }
  const long = text.split("\n").findIndex((line) => line.length > MOST.line);
  if (long >= 0) {
    refuse(
      `line ${long + 1} has more than ${MOST.line} characters; break it`,
    );
  }
}
