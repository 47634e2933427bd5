/**
 * One peer, and what peers have to know of an operation.
 *
 * @module
 */

import type { DType } from "../bench/model/dtype.ts";
import type { Problem } from "../bench/model/suite.ts";

/** One way in which PyTorch or Triton computes a product. */
export interface Peer {
  /** Its kernel name in rows. */
  readonly name: string;
  readonly idea: string;
  /** Whether one compiled graph serves every M of a suite. */
  readonly dynamic?: boolean;
  /** Whether it is about an epilogue. */
  readonly fused?: boolean;
  /** Whether it has a config that is searched for. */
  readonly searched: boolean;
  /** Whether Triton compiles it. */
  readonly compiled: boolean;
  /** What a row says that was measured. */
  readonly note?: string;
  /** Of outputs that are rounded more coarsely than the operation asks for. */
  readonly result?: CoarseResult;
}

/** Outputs of another type than the operation's, at the places where its own would be. */
export interface CoarseResult {
  readonly type: DType;
  /** What rounding to it adds to the relative tolerance. */
  readonly rtol: number;
}

/** A peer that is chosen by searching and compiled by Triton. */
export const MADE = { searched: true, compiled: true } as const;
/** A peer that calls what PyTorch has, nothing chosen. */
export const CALLED = { searched: false, compiled: false } as const;

/** A problem, and the values of M beside it. */
export interface Asked {
  readonly problem: Problem;
  /** The values of M at the same N and K in the same suite. */
  readonly sizes: readonly number[];
}

/** An operation that peers compute. */
export interface PeerOp {
  /** Simplest first. */
  readonly peers: readonly Peer[];
  /** Why `peer` cannot be measured at a problem; nothing where it can. */
  unsupported(peer: Peer, asked: Asked): string | undefined;
  /** A problem as the program takes it. */
  fields(problem: Problem): Readonly<Record<string, unknown>>;
}
