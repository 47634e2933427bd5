/**
 * `mnkbench list`: suites with their kernels, or cases.
 *
 * @module
 */

import { EMULATED } from "../../backends/emulator/archs.ts";
import { EXIT } from "../../bench/model/errors.ts";
import { keyOf } from "../../bench/row/row.ts";
import type { Case, Suite } from "../../bench/model/suite.ts";
import type { ListOptions } from "../../session/options.ts";
import { besidePeers } from "../../peers/peer_cases.ts";
import {
  checkKernels,
  loadSuites,
  overridesOf,
  pointsOf,
} from "../../session/select.ts";
import { casesWithin } from "../../session/selection.ts";
import { say, tell } from "../terminal/output.ts";

/** Prints the listing. @returns The exit code. */
export async function list(options: ListOptions): Promise<number> {
  const suites = besidePeers(await loadSuites(options.suites), options.peers);
  checkKernels(suites, options.kernels);
  const filter = {
    kernels: options.kernels,
    points: pointsOf(options),
    overrides: overridesOf(options),
  };
  const listed = suites.map((suite) => ({
    suite,
    cases: casesWithin([suite], filter),
  }));
  if (options.json) say(JSON.stringify(jsonOf(listed, options), null, 2));
  else {
    for (const line of linesOf(listed, options)) say(line);
    if (!options.cases) {
      tell(`Without a GPU: check --device ${EMULATED.join(", ")}`);
    }
  }
  return EXIT.ok;
}

interface Listed {
  readonly suite: Suite;
  readonly cases: readonly Case[];
}

function jsonOf(listed: readonly Listed[], options: ListOptions): unknown {
  if (options.cases) return listed.flatMap(({ cases }) => cases.map(keyOf));
  return listed.map(({ suite, cases }) => ({
    name: suite.name,
    title: suite.title,
    op: suite.op,
    shapes: shapesOf(cases),
    cases: cases.length,
    baselines: suite.baselines,
    kernels: kernelsOf(suite, options),
  }));
}

function linesOf(listed: readonly Listed[], options: ListOptions): string[] {
  if (options.cases) {
    return listed.flatMap(({ cases }) =>
      cases.map((c) =>
        [c.suite, c.kernel, c.backend, c.problem.title].join("  ")
      )
    );
  }
  return listed.flatMap(({ suite, cases }) => {
    const kernels = kernelsOf(suite, options);
    const widest = (of: "name" | "backend") =>
      Math.max(0, ...kernels.map((kernel) => kernel[of].length));
    const [name, backend] = [widest("name"), widest("backend")];
    return [
      `${suite.name}: ${suite.title} (${shapesOf(cases)} shapes)`,
      ...kernels.map((k) =>
        `  ${k.name.padEnd(name)}  ${k.backend.padEnd(backend)}  ${k.idea}`
      ),
    ];
  });
}

function kernelsOf(suite: Suite, { kernels }: ListOptions): Suite["kernels"] {
  if (kernels.length === 0) return suite.kernels;
  return suite.kernels.filter(({ name }) => kernels.includes(name));
}

function shapesOf(cases: readonly Case[]): number {
  return new Set(cases.map(({ problem }) => problem)).size;
}
