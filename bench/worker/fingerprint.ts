/**
 * What makes two invocations the same run.
 *
 * @module
 */

import { createHash } from "node:crypto";
import type { Selection, Settings } from "../model/settings.ts";

/** All that a run's results depend on besides sources, which are compared row by row. */
export interface RunIdentity {
  readonly selection: Selection;
  readonly settings: Settings;
  /** Repeats in fresh workers. */
  readonly runs: number;
  /** The harness's version. */
  readonly harness: string;
  /** The device's name, as the vendor gives it. */
  readonly device: string;
  readonly arch: string;
}

/**
 * 12 hexadecimal digits, equal for equal identities. Where kernels and timings are kept
 * does not count.
 */
export function fingerprint(identity: RunIdentity): string {
  const { selection, runs, harness, device, arch } = identity;
  const { cacheDir: _, timingCache, ...own } = identity.settings;
  const settings = { ...own, remembers: timingCache !== undefined };
  const text = canonicalJson({
    selection,
    settings,
    runs,
    harness,
    device,
    arch,
  });
  return createHash("sha256").update(text).digest("hex").slice(0, 12);
}

/**
 * JSON whose objects have their keys in code-point order.
 *
 * @example
 * ```ts
 * import { canonicalJson } from "./fingerprint.ts";
 * import { strictEqual } from "node:assert/strict";
 *
 * strictEqual(canonicalJson({ b: [2, { d: 1, c: 0 }], a: 1 }), '{"a":1,"b":[2,{"c":0,"d":1}]}');
 * ```
 */
export function canonicalJson(value: unknown): string {
  return JSON.stringify(
    value,
    (_, inner: unknown) =>
      isRecord(inner)
        ? Object.fromEntries(
          Object.entries(inner).sort(([a], [b]) => a < b ? -1 : 1),
        )
        : inner,
  );
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
