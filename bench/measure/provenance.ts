/**
 * The provenance columns of a row.
 *
 * @module
 */

import { type Built, hashOf } from "../device/binary_cache.ts";
import type { Choice } from "../tune/config_book.ts";
import type { Telemetry } from "../device/device.ts";
import type { BenchContext } from "./context.ts";
import { rotationOf } from "./rotation.ts";
import { type Provenance, SCHEMA } from "../row/row.ts";
import type { Problem } from "../model/suite.ts";

/** The provenance of a case that ran on `context` just now. */
export function provenanceOf(
  context: BenchContext,
  { problem, choice, built, telemetry }: {
    problem: Problem;
    choice: Choice | undefined;
    built: readonly Built[];
    /** As it was when the samples had been taken; empty where none were. */
    telemetry: Telemetry;
  },
): Provenance {
  const { settings, device, instruments, options } = context;
  const { blas, info } = device;
  const cold = settings.cache === "cold";
  const rotation = rotationOf(context, problem);
  return {
    timer: settings.timer,
    cache: settings.cache,
    flush: rotation?.enough ? "rotate" : cold ? settings.flush : "",
    flush_bytes: rotation?.enough
      ? rotation.bytes
      : cold
      ? instruments.flushBytes
      : 0,
    warmup_ms: settings.warmup,
    rep_ms: settings.rep,
    fill: settings.fill,
    seed: settings.seed,
    search_configs: choice?.tried ?? 0,
    search_ms: Math.round(choice?.ms ?? 0),
    ...telemetry,
    driver: info.driver,
    compiler: [...new Set(built.map((b) => b.compiler))].join("+"),
    library: blas ? `${blas.name} ${blas.version}` : "",
    source_hash: joinHashes(built.map((b) => b.sourceHash)),
    binary_hash: joinHashes(built.map((b) => b.binaryHash)),
    harness: options.harness,
    schema: SCHEMA,
    run: options.run,
    time: options.date(),
  };
}

/** The hashes of the parts of a plan as one; nothing for none. */
export function joinHashes(hashes: readonly string[]): string {
  return hashes.length > 1 ? hashOf(...hashes) : hashes[0] ?? "";
}
