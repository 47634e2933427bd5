/**
 * The cases of peers: PyTorch and Triton beside our kernels, in the same suites.
 *
 * @module
 */

import type { Build } from "../bench/device/device.ts";
import { basename } from "node:path";
import { fileURLToPath } from "node:url";
import { CaseError } from "../bench/model/errors.ts";
import {
  isPeerCase,
  type Peer,
  type PeerCase,
  type PeerOp,
  PEERS_BACKEND,
  type PeerSet,
  PYTHON_VARIABLE,
} from "../bench/model/peer.ts";
import type { Selection } from "../bench/model/settings.ts";
import type { Case, Suite } from "../bench/model/suite.ts";
import { ops } from "../kernels/mod.ts";
import { functionsOf } from "./functions.ts";

/** The Python program: it is started with the file `peers.py`. */
export const PYTHON: URL = new URL("./python/", import.meta.url);

/** The Python that measures peers: `chosen`, or the environment's, or the first in PATH. */
export function pythonOf(chosen: string | undefined): string {
  return chosen ?? (Deno.env.get(PYTHON_VARIABLE) || "python3");
}

/** The peers of the operation named `op`; nothing where it has none. */
export function peersOf(op: string): PeerOp | undefined {
  return ops.find((one) => one.op.name === op)?.peers;
}

/** The Python files by which the peers of `op` are measured, in the order of their paths. */
export function sourcesOf(op: PeerOp): readonly URL[] {
  const folders = [PYTHON, new URL("runtime/", PYTHON)];
  return [...folders.flatMap(pythonIn), ...programOf(op)];
}

/** Those of them that are measured, and not what measures. */
function programOf({ module }: PeerOp): readonly URL[] {
  return pythonIn(new URL("./", module));
}

function pythonIn(folder: URL): readonly URL[] {
  return [...Deno.readDirSync(folder)].map(({ name }) => name)
    .filter((name) => name.endsWith(".py")).sort()
    .map((name) => new URL(name, folder));
}

/**
 * A note that the peers of `selection` are not measured on its device; nothing where they
 * are.
 */
export function peersElsewhere(
  { peers, backend }: Pick<Selection, "peers" | "backend">,
): string[] {
  if (peers?.set === undefined || backend === PEERS_BACKEND) return [];
  const names = peers.set.split(",").flatMap((set) =>
    set === "torch"
      ? ops.flatMap((one) => one.peers?.peers ?? []).map(({ name }) => name)
      : peersIn(set).map(({ name }) => name)
  );
  return [
    `--peers ${peers.set} is for ${PEERS_BACKEND} only, not run here: ${
      [...new Set(names)].join(", ")
    }`,
  ];
}

/** Returns `suite` with the peers of `set` as further kernels. */
export function withPeers(suite: Suite, set: PeerSet = "torch"): Suite {
  const names = set.split(",");
  const own = names.includes("torch") ? peersOf(suite.op) : undefined;
  const taken = new Set(
    suite.kernels.filter(({ backend }) => backend === PEERS_BACKEND)
      .map(({ name }) => name),
  );
  const given = names.filter((name) => name !== "torch").flatMap(peersIn)
    .map((peer) => taken.has(peer.name) ? inFull(peer) : peer);
  const added = [...own?.peers ?? [], ...given];
  if (added.length === 0) return suite;
  function* beside(cases: Iterable<Case>): Generator<Case> {
    // Once: a problem is told from another by identity.
    const all = [...cases];
    yield* all;
    if (own) yield* peerCases(own, all);
    for (const one of firstOf(all)) {
      for (const peer of given) yield givenCase(peer, one);
    }
  }
  return {
    ...suite,
    kernels: [
      ...suite.kernels,
      ...added.map(({ name, idea }) => ({
        name,
        idea,
        backend: PEERS_BACKEND,
      })),
    ],
    cases: (points, overrides, where) =>
      beside(suite.cases(points, overrides, where)),
    at: (places) => beside(suite.at(places)),
  };
}

/** The peers that functions of the file `name` make. @throws {UserError} Where it has none. */
function peersIn(name: string): readonly Peer[] {
  return functionsOf(name).map(({ file, entry }) => ({
    name: entry,
    idea: `${entry}() of ${basename(fileURLToPath(file))}`,
    kind: "own",
    source: { file, entry },
  }));
}

/** A kernel of the suite has its name: that of the file tells them apart. */
function inFull(peer: Peer): Peer {
  return { ...peer, name: `${peer.name}.py` };
}

/** The first case of each problem of `all`. */
function firstOf(all: readonly Case[]): readonly Case[] {
  return new Map(all.map((c) => [c.problem, c])).values().toArray();
}

function givenCase(peer: Peer, { suite, place, problem }: Case): PeerCase {
  const { file: source, entry } = peer.source!;
  return {
    suite,
    place,
    problem,
    peer,
    ranges: [],
    runner: "peers",
    kernel: peer.name,
    backend: PEERS_BACKEND,
    unsupported: () => undefined,
    candidates: () => [{ config: {} }],
    builds: () => [{ source, defines: { entry } }],
    prepare: () => refuse(peer),
  };
}

function refuse({ name }: Peer): never {
  throw new CaseError(
    "unsupported",
    `${name} is measured by Python: give --peers to bench`,
  );
}

/** Returns `c` as the case of a peer: a Python kernel of a suite is one too here. */
export function asPeerCase(c: Case): PeerCase {
  if (isPeerCase(c)) return c;
  const { kernel: name, python: source } = c;
  const peer: Peer = { name, idea: "", kind: "own", source: source! };
  return { ...c, peer, ranges: [], runner: "python" };
}

/** The peers' cases at the problems of `all`, problem by problem, dynamic graphs last. */
function* peerCases(op: PeerOp, all: readonly Case[]): Generator<PeerCase> {
  const first = firstOf(all);
  const groups = Map.groupBy(first, groupOf);
  for (const dynamic of [false, true]) {
    for (const one of first) {
      const ranges = dynamic ? rangesOf(groups.get(groupOf(one))!) : [];
      for (const peer of op.peers) {
        if ((peer.kind === "dynamic") === dynamic) {
          yield peerCase(op, peer, one, ranges);
        }
      }
    }
  }
}

/** The values of M that are ranges of their own at most. */
const MOST_RANGES = 5;
/** The ends of the ranges that a router is benchmarked for. */
const RANGE_ENDS = [1, 16, 64, 256, 768];

/** The values of M in `group`; of many the usual ones and the largest. */
function rangesOf(group: readonly Case[]): readonly number[] {
  const sizes = [...new Set(group.map(({ problem: { key } }) => key.m))]
    .toSorted((a, b) => a - b);
  if (sizes.length <= MOST_RANGES) return sizes;
  const last = sizes.at(-1)!;
  return sizes.filter((m) => RANGE_ENDS.includes(m) || m === last);
}

/** Equal for problems that differ in M alone. */
function groupOf({ problem: { key } }: Case): string {
  return JSON.stringify({ ...key, m: 0 });
}

function peerCase(
  op: PeerOp,
  peer: Peer,
  { suite, place, problem }: Case,
  ranges: readonly number[],
): PeerCase {
  return {
    suite,
    place,
    problem,
    peer,
    ranges,
    runner: "peers",
    kernel: peer.name,
    backend: PEERS_BACKEND,
    unsupported: () =>
      op.unsupported?.(peer, problem) ?? lacksSizes(peer, ranges),
    candidates: () => [{ config: {} }],
    // Never compiled here; a changed program makes rows stale, kept ones of an unfinished run too.
    builds: () =>
      programOf(op).map((source): Build => ({ source, defines: {} })),
    prepare: () => refuse(peer),
  };
}

function lacksSizes(
  { kind }: Peer,
  ranges: readonly number[],
): string | undefined {
  return kind === "dynamic" && ranges.length < 2
    ? "A dynamic graph serves several M at one N and K; here there is one"
    : undefined;
}
