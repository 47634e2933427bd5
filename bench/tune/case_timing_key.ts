/**
 * Computes the timing-cache key of a case.
 *
 * @module
 */

import { hashOf } from "../device/binary_cache.ts";
import type { BenchContext } from "../measure/context.ts";
import { blame, CaseError } from "../model/errors.ts";
import type { Candidate } from "../model/kernel.ts";
import { BYTES } from "../model/dtype.ts";
import { formatValues } from "../model/grid.ts";
import type { Case } from "../model/suite.ts";
import { type Key, keyOf } from "../row/row.ts";
import type { TimingKey } from "./timing_cache.ts";

/**
 * The key of `c` on `context`.
 *
 * @param legal Its legal configs: a kernel that is given others is another kernel.
 * @throws {CaseError} Where the kernel cannot name its sources.
 */
export function timingKeyOf(
  c: Case,
  { context, legal }: { context: BenchContext; legal: readonly Candidate[] },
): TimingKey {
  const { settings, device: { info, blas }, options } = context;
  const { suite: _, ...key }: Key = keyOf(c);
  const built = sourcesOf(c, { context, legal });
  return {
    ...key,
    alignment: `${alignmentOf(c)}`,
    workspace: `${settings.workspaceBytes ?? ""}`,
    device: info.name,
    arch: info.arch,
    units: `${info.units}`,
    driver: info.driver,
    compiler: built.any ? compilerOf(context) : "",
    library: blas ? `${blas.name} ${blas.version}` : "",
    source: built.hash,
    harness: options.harness,
    timer: settings.timer,
    cache: settings.cache,
    flush: settings.cache === "cold" ? settings.flush : "",
    fill: settings.fill,
  };
}

/** Bytes beyond which a better alignment serves no load. */
const ALIGNED = 128;

/** Bytes that divide the distance of any two rows: what vector loads depend on. */
function alignmentOf({ problem }: Case): number {
  const distances = problem.operands.map(({ ld, type }) => ld * BYTES[type]);
  let bytes = ALIGNED;
  while (distances.some((distance) => distance % bytes !== 0)) bytes /= 2;
  return bytes;
}

/** A hash of the texts, constants and configs that a case chooses among. */
function sourcesOf(
  c: Case,
  { context, legal }: { context: BenchContext; legal: readonly Candidate[] },
): { readonly hash: string; readonly any: boolean } {
  const { cache, backend } = context.options;
  const texts = new Set<string>();
  const configs = legal.map(({ config }) => {
    const builds = blame("name the kernel's sources", () => c.builds(config));
    const units = builds.map(({ source, defines }) => {
      const text = cache.contentHash(source);
      texts.add(text);
      return `${text} ${formatValues(defines)}`;
    });
    return [formatValues(config), ...units].join("\n");
  });
  const flags = backend.target(context.device.info.arch).flags;
  return {
    // The order is the model's, and says nothing of what is built.
    hash: hashOf(flags.join(" "), ...configs.sort()),
    any: texts.size > 0,
  };
}

const signatures = new WeakMap<BenchContext, string>();

/** The compiler's signature; nothing where there is none, as on a box with binaries. */
function compilerOf(context: BenchContext): string {
  const known = signatures.get(context);
  if (known !== undefined) return known;
  const signature = askCompiler(context);
  signatures.set(context, signature);
  return signature;
}

function askCompiler({ options: { backend }, device }: BenchContext): string {
  try {
    return backend.compiler(device.info.arch).signature;
  } catch (error) {
    if (!(error instanceof CaseError)) throw error;
    return "";
  }
}
