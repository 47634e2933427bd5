/**
 * The cases of peers: PyTorch and Triton beside our kernels, in the same suites.
 *
 * @module
 */

import type { Selection } from "../bench/model/settings.ts";
import { CaseError } from "../bench/model/errors.ts";
import type {
  Case,
  Overrides,
  PointSet,
  Suite,
  Where,
} from "../bench/model/suite.ts";
import {
  type Peer,
  PEERS,
  PEERS_BACKEND,
  type PeerSet,
  peersOf,
  peerSources,
  peerUnsupported,
} from "./torch.ts";

/** The name of the environment variable that chooses a Python. */
export const PYTHON_VARIABLE = "MNKBENCH_PYTHON";

/** The Python that measures peers: `chosen`, or the environment's, or the first in PATH. */
export function pythonOf(chosen: string | undefined): string {
  return chosen ?? (Deno.env.get(PYTHON_VARIABLE) || "python3");
}

/** `suites`, each {@linkcode withPeers} where they are asked for. */
export function besidePeers(
  suites: readonly Suite[],
  peers: PeerSet | undefined,
): readonly Suite[] {
  return peers === undefined ? suites : suites.map(withPeers);
}

/** That the peers of `selection` are not measured on its device; nothing where they are. */
export function peersElsewhere(
  { peers, backend }: Pick<Selection, "peers" | "backend">,
): string[] {
  return peers === undefined || backend === PEERS_BACKEND ? [] : [
    `--peers ${peers.set} is for ${PEERS_BACKEND} only, not run here: ${
      [...new Set(PEERS.map(({ name }) => name))].join(", ")
    }`,
  ];
}

/** Whether it is the case or the row of a peer. */
export function isPeer(
  { kernel, backend }: Pick<Case, "kernel" | "backend">,
): boolean {
  return backend === PEERS_BACKEND && peerNamed(kernel) !== undefined;
}

/** The peer of that name, of any operation. */
export function peerNamed(name: string): Peer | undefined {
  return PEERS.find((peer) => peer.name === name);
}

/** The peer whose case `one` is. */
export function peerOf({ kernel, problem }: Case): Peer | undefined {
  return peersOf(problem.op).find(({ name }) => name === kernel);
}

/**
 * `suite` with the peers as further kernels: what lists, filters and tables kernels then
 * does so with peers too. A suite of an operation that they do not know stays as it is.
 */
export function withPeers(suite: Suite): Suite {
  const peers = peersOf(suite.op);
  if (peers.length === 0) return suite;
  return {
    ...suite,
    kernels: [
      ...suite.kernels,
      ...peers.map(({ name, idea }) => ({
        name,
        idea,
        backend: PEERS_BACKEND,
      })),
    ],
    *cases(points: PointSet, overrides?: Overrides, where?: Where) {
      // Once: a problem is told from another by identity.
      const own = [...suite.cases(points, overrides, where)];
      yield* own;
      yield* peerCases(own);
    },
  };
}

/** The peers' cases at the problems of `own`, problem by problem, dynamic graphs last. */
export function* peerCases(own: readonly Case[]): Generator<Case> {
  const first = new Map(own.map((c) => [c.problem, c]));
  const groups = Map.groupBy(first.values(), groupOf);
  for (const dynamic of [false, true]) {
    for (const one of first.values()) {
      const sizes = groups.get(groupOf(one))!.map((c) => c.problem.key.m);
      for (const peer of peersOf(one.problem.op)) {
        if ((peer.dynamic ?? false) === dynamic) {
          yield peerCase(peer, one, sizes);
        }
      }
    }
  }
}

/** Ranges of M that a dynamic graph tells apart at most: each is benchmarked on its own. */
const MOST_RANGES = 5;
/** Where ranges end that a router is benchmarked for. */
const RANGE_ENDS = [1, 16, 64, 256, 768];

/**
 * The ends, ascending, of the ranges of M that one dynamic graph serves beside the case: all
 * sizes of the suite, or where there are many of them the usual ones and the largest.
 */
export function rangesBeside(one: Case, all: readonly Case[]): number[] {
  const group = groupOf(one);
  const sizes = [
    ...new Set(
      all.filter((c) => groupOf(c) === group).map((c) => c.problem.key.m),
    ),
  ].toSorted((a, b) => a - b);
  if (sizes.length <= MOST_RANGES) return sizes;
  const last = sizes.at(-1)!;
  return sizes.filter((m) => RANGE_ENDS.includes(m) || m === last);
}

/** Equal for problems that differ in M alone. */
function groupOf({ suite, problem: { key } }: Case): string {
  return JSON.stringify({ suite, ...key, m: 0 });
}

function peerCase(
  peer: Peer,
  { suite, place, problem }: Case,
  sizes: readonly number[],
): Case {
  return {
    suite,
    place,
    kernel: peer.name,
    backend: PEERS_BACKEND,
    problem,
    unsupported: () => peerUnsupported(peer, { problem, sizes }),
    candidates: () => [{ config: {} }],
    // Never compiled here; a changed program makes kept rows of an unfinished run void.
    builds: () => peerSources().map((source) => ({ source, defines: {} })),
    prepare() {
      throw new CaseError(
        "unsupported",
        `${peer.name} is measured by Python: give --peers torch to bench`,
      );
    },
  };
}
