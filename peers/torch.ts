/**
 * What PyTorch and Triton offer beside our kernels: who they are, what they can compute,
 * and the Python program that measures them.
 *
 * @module
 */

import type { Problem } from "../bench/model/suite.ts";
import { groupedPeers } from "./grouped.ts";
import { matmulPeers } from "./matmul.ts";
import type { Asked, Peer, PeerOp } from "./peer.ts";
import { qmmPeers } from "./qmm.ts";

export type { Peer } from "./peer.ts";

/** The names under which peers can be asked for, by `--peers`. */
export const PEER_SETS = ["torch"] as const;
/** One of {@linkcode PEER_SETS}. */
export type PeerSet = typeof PEER_SETS[number];
/** The rows of a peer are those of a kernel of this backend. */
export const PEERS_BACKEND = "cuda";

/** Operations that the program knows, by name: other suites have no peers. */
const OPS: Readonly<Record<string, PeerOp>> = {
  "matmul": matmulPeers,
  "qmm": qmmPeers,
  "grouped-matmul": groupedPeers,
};

/** The peers of all operations; some have one of the same name. */
export const PEERS: readonly Peer[] = Object.values(OPS)
  .flatMap(({ peers }) => peers);

/** The peers at an operation, simplest first; none at one that the program does not know. */
export function peersOf(op: string): readonly Peer[] {
  return OPS[op]?.peers ?? [];
}

/** Why `peer` cannot be measured at a problem; nothing where it can. */
export function peerUnsupported(peer: Peer, asked: Asked): string | undefined {
  return OPS[asked.problem.op]!.unsupported(peer, asked);
}

/** A problem as the program takes it. */
export function problemFields(
  problem: Problem,
): Readonly<Record<string, unknown>> {
  return { op: problem.op, ...OPS[problem.op]!.fields(problem) };
}

const PYTHON = new URL("./python/", import.meta.url);

/** The program's files, in the order of their paths: their hashes are part of a row. */
export function peerSources(): readonly URL[] {
  return ["", "ops/", "runtime/"].flatMap((folder) => {
    const url = new URL(folder, PYTHON);
    return [...Deno.readDirSync(url)].map(({ name }) => name)
      .filter((name) => name.endsWith(".py")).sort()
      .map((name) => new URL(name, url));
  });
}

/** The file that is started. */
export const PEER_PROGRAM: URL = new URL("peers.py", PYTHON);
