/**
 * What peers wrote, compared with what is right.
 *
 * @module
 */

import {
  compare,
  type Comparison,
  POISON,
  worse,
} from "../bench/measure/assert_close.ts";
import { BYTES } from "../bench/model/dtype.ts";
import {
  elementsOf,
  type Operand,
  type Tolerance,
} from "../bench/model/problem.ts";
import type { Problem } from "../bench/model/suite.ts";
import type { Peer } from "./peer.ts";

/** What a call of a peer writes: rows without padding, of several outputs one after the other. */
export interface PeerOutputs {
  readonly outputs: readonly Operand[];
  readonly tolerance: Tolerance;
}

/** What `peer` writes at a problem. */
export function peerOutputs(
  peer: Peer | undefined,
  { operands, tolerance }: Problem,
): PeerOutputs {
  const outputs = operands.filter(({ role }) => role === "out");
  if (!peer?.result) return { outputs, tolerance };
  const { type, rtol } = peer.result;
  return {
    outputs: outputs.map((operand) => ({ ...operand, type })),
    tolerance: { ...tolerance, rtol: tolerance.rtol + rtol },
  };
}

/** That `bytes` cannot be the outputs; nothing where they have their size. */
export function wrongSize(
  bytes: Uint8Array,
  { outputs }: PeerOutputs,
): string | undefined {
  const size = outputs.reduce((sum, operand) => sum + bytesOf(operand), 0);
  if (bytes.length === size) return undefined;
  const names = outputs.map(({ name }) => name).join(", ");
  const shapes = outputs.map(({ rows, cols, type }) =>
    `${rows}×${cols} of ${type}`
  );
  return `${names}: has ${bytes.length} bytes, and ${
    shapes.join(", ")
  } are ${size}`;
}

/**
 * All outputs in `bytes`: the worst accuracy, and what is wrong first.
 *
 * @param right One for each output.
 */
export function compareOutputs(
  bytes: Uint8Array<ArrayBuffer>,
  { outputs, tolerance }: PeerOutputs,
  right: readonly Float64Array[],
): Comparison {
  let from = 0;
  const compared = outputs.map((operand, i) => {
    const own = bytes.slice(from, from += bytesOf(operand));
    return compare(
      { operand, bytes: padded(own, operand), right: right[i]! },
      tolerance,
    );
  });
  const wrong = compared.find((one) => one.wrong !== undefined)?.wrong;
  return {
    accuracy: compared.map(({ accuracy }) => accuracy).reduce(worse),
    ...(wrong === undefined ? {} : { wrong }),
  };
}

/** Without padding. */
function bytesOf({ rows, cols, type }: Operand): number {
  return rows * cols * BYTES[type];
}

/** Rows `ld` apart, with poison between them, as the harness has its own outputs. */
function padded(
  bytes: Uint8Array<ArrayBuffer>,
  operand: Operand,
): Uint8Array<ArrayBuffer> {
  const { rows, cols, ld, type } = operand;
  if (ld === cols) return bytes;
  const size = BYTES[type];
  const out = new Uint8Array(elementsOf(operand) * size).fill(POISON);
  for (let i = 0; i < rows; i++) {
    out.set(
      bytes.subarray(i * cols * size, (i + 1) * cols * size),
      i * ld * size,
    );
  }
  return out;
}
