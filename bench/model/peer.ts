/**
 * Peers: what PyTorch and Triton offer for an operation, measured by Python beside our kernels.
 *
 * @module
 */

import type { DType } from "./dtype.ts";
import type { Case, Problem } from "./suite.ts";

/** The names under which `--peers` asks for peers. */
export const PEER_SETS = ["torch"] as const;
/** One of {@linkcode PEER_SETS}. */
export type PeerSet = typeof PEER_SETS[number];
/** The backend of peers' kernels. */
export const PEERS_BACKEND = "cuda";
/** The environment variable that names the Python with PyTorch and Triton. */
export const PYTHON_VARIABLE = "MNKBENCH_PYTHON";

/** The way in which Python comes to the call that it measures. */
export type PeerKind =
  /** It calls functions of PyTorch as they are. */
  | "call"
  /** It compiles a function by `torch.compile`, afresh for each shape. */
  | "compile"
  /** It compiles one graph for every M of a suite. */
  | "dynamic"
  /** It searches the configs of a Triton kernel. */
  | "search";

/** One way in which PyTorch or Triton computes an operation. */
export interface Peer {
  /** Its kernel name in rows. */
  readonly name: string;
  readonly idea: string;
  readonly kind: PeerKind;
  /** The note of its rows. */
  readonly note?: string;
  /** Outputs that are rounded more coarsely than the operation asks for. */
  readonly result?: CoarseResult;
}

/** Outputs of another type than the operation's. */
export interface CoarseResult {
  readonly type: DType;
  /** The amount that rounding to it adds to the relative tolerance. */
  readonly rtol: number;
}

/** The peers of an operation. */
export interface PeerOp {
  /** The Python module that computes them; `peers/python/runtime/problem.py` says what is in it. */
  readonly module: URL;
  /** The two modules for peers of kind `search`: their configs without torch, and the search. */
  readonly plan?: URL;
  readonly search?: URL;
  /** Simplest first. */
  readonly peers: readonly Peer[];
  /** The reason why `peer` cannot be measured at a problem; nothing where it can. */
  unsupported?(peer: Peer, problem: Problem): string | undefined;
  /** The attributes of a problem in Python. */
  fields(problem: Problem): Readonly<Record<string, unknown>>;
}

/** The case of a peer at a problem. */
export interface PeerCase extends Case {
  readonly runner: "python";
  readonly peer: Peer;
  /**
   * The ends, ascending, of the ranges of M that one dynamic graph serves; empty for other
   * kinds.
   */
  readonly ranges: readonly number[];
}

/** Tells whether Python runs the case. */
export function isPeerCase(one: Case): one is PeerCase {
  return one.runner === "python";
}

/**
 * Tells from the column `library` of a row whether Python measured it.
 *
 * @example
 * ```ts
 * import { isPeerLibrary } from "./peer.ts";
 * import { strictEqual } from "node:assert/strict";
 *
 * strictEqual(isPeerLibrary("torch 2.11.0"), true);
 * strictEqual(isPeerLibrary("cublas 13.0"), false);
 * ```
 */
export function isPeerLibrary(library: string | number = ""): boolean {
  return PEER_SETS.some((set) => set === `${library}`.split(" ")[0]);
}
