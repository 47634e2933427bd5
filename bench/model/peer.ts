/**
 * Peers: what PyTorch and Triton offer for an operation, measured by Python beside our kernels.
 *
 * @module
 */

import type { DType } from "./dtype.ts";
import type { PythonSource } from "./kernel_spec.ts";
import type { Case, Problem } from "./suite.ts";

/** The names under which `--peers` asks for peers; Python files are the others. */
export const PEER_SETS = ["torch"] as const;
/** One of {@linkcode PEER_SETS}, a file `mine.py` or its function `mine.py:fn`; several with commas. */
export type PeerSet = string;
/** The backend of what Python runs. */
export { PYTHON_BACKEND as PEERS_BACKEND } from "./kernel_spec.ts";
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
  | "search"
  /** It asks a function of a user's file for the call. */
  | "own";

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
  /** Of kind `own`. */
  readonly source?: PythonSource;
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

/** The case that Python runs: of a peer, or of a Python kernel of a suite. */
export interface PeerCase extends Case {
  readonly runner: "peers" | "python";
  readonly peer: Peer;
  /**
   * The ends, ascending, of the ranges of M that one dynamic graph serves; empty for other
   * kinds.
   */
  readonly ranges: readonly number[];
}

/** Tells whether the case is as `peers/` makes it. */
export function isPeerCase(one: Case): one is PeerCase {
  return "peer" in one;
}

/** Tells whether Python runs the case: of a peer, or of a Python kernel of a suite. */
export function isPythonCase({ runner }: Pick<Case, "runner">): boolean {
  return runner !== undefined;
}

/** The first word of the column `library` in rows of the Python kernels of suites. */
export const PYTHON_LIBRARY = "python";

/** Tells from the column `library` of a row whether Python measured it, for a suite or as a peer. */
export function isPythonLibrary(library: string | number = ""): boolean {
  return isPeerLibrary(library) ||
    `${library}`.split(" ")[0] === PYTHON_LIBRARY;
}

/**
 * Tells from the column `library` of a row whether it is of a peer.
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
