/**
 * The timing-cache key of a case.
 *
 * @module
 */

import { hashOf } from "../device/binary_cache_entry.ts";
import type { Rig } from "../measure/context.ts";
import { blame } from "../model/blame.ts";
import type { Candidate } from "../model/candidates.ts";
import { BYTES } from "../model/dtype.ts";
import { CaseError } from "../model/errors.ts";
import { formatValues } from "../model/grid.ts";
import type { Case } from "../model/suite.ts";
import { type Key, keyOf } from "../row/row.ts";
import type { TimingKey } from "./timing_key.ts";

/**
 * The key of `c` on `rig`.
 *
 * @param legal Its legal configs: a kernel that is given others is another kernel.
 * @throws {CaseError} Where the kernel cannot name its sources.
 */
export function timingKeyOf(
  c: Case,
  { rig, legal }: { rig: Rig; legal: readonly Candidate[] },
): TimingKey {
  const { settings, device: { info, blas }, options } = rig;
  const { suite: _, ...key }: Key = keyOf(c);
  const built = sourcesOf(c, { rig, legal });
  return {
    ...key,
    alignment: `${alignmentOf(c)}`,
    workspace: `${settings.workspaceBytes ?? ""}`,
    device: info.name,
    arch: info.arch,
    units: `${info.units}`,
    driver: info.driver,
    compiler: built.any ? compilerOf(rig) : "",
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
  { rig, legal }: { rig: Rig; legal: readonly Candidate[] },
): { readonly hash: string; readonly any: boolean } {
  const { cache, backend } = rig.options;
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
  const flags = backend.target(rig.device.info.arch).flags;
  return {
    // The order is the model's, and says nothing of what is built.
    hash: hashOf(flags.join(" "), ...configs.sort()),
    any: texts.size > 0,
  };
}

const signatures = new WeakMap<Rig, string>();

/** The compiler's signature; nothing where there is none, as on a box with binaries. */
function compilerOf(rig: Rig): string {
  const known = signatures.get(rig);
  if (known !== undefined) return known;
  const signature = askCompiler(rig);
  signatures.set(rig, signature);
  return signature;
}

function askCompiler({ options: { backend }, device }: Rig): string {
  try {
    return backend.compiler(device.info.arch).signature;
  } catch (error) {
    if (!(error instanceof CaseError)) throw error;
    return "";
  }
}
