/**
 * What PyTorch and Triton offer beside our kernels: who they are, what they can compute,
 * and the Python program that measures them.
 *
 * @module
 */

import type { OpKey } from "../bench/op.ts";
import { parseValues } from "../bench/grid.ts";

/** The names under which peers can be asked for, by `--peers`. */
export const PEER_SETS = ["torch"] as const;
/** The rows of a peer are those of a kernel of this backend. */
export const PEERS_BACKEND = "cuda";

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
}

const made = { searched: true, compiled: true };

/** Every peer, simplest first. */
export const PEERS: readonly Peer[] = [
  {
    name: "torch-eager",
    idea: "PyTorch: mm and the epilogue, one call after another",
    searched: false,
    compiled: false,
  },
  {
    name: "torch-compiled",
    idea: "torch.compile, max-autotune, compiled afresh for each shape",
    ...made,
  },
  {
    name: "torch-custom-op-mm",
    idea:
      "a custom op for the product, tuned over split counts; epilogue outside",
    ...made,
  },
  {
    name: "torch-custom-op-mm-relu",
    idea: "the same with the epilogue inside of the op",
    fused: true,
    ...made,
  },
  {
    name: "torch-dynamic",
    idea: "one graph for every M, a choice for each range of it",
    dynamic: true,
    ...made,
  },
  {
    name: "triton-decompose-k-tile",
    idea: "decompose-K in Triton, slices summed one by one for a tile",
    ...made,
  },
  {
    name: "triton-decompose-k",
    idea: "decompose-K in Triton, slices summed as a vector",
    ...made,
  },
];

/** Operations that the program knows: other suites have no peers. */
export const PEER_OPS: readonly string[] = ["matmul"];
const TYPES = ["bf16", "f16", "f32"];
const EPILOGUES = ["none", "relu", "bias", "bias+relu"];

/** The epilogue in a key's parameters. */
export function epilogueOf({ params }: Pick<OpKey, "params">): string {
  return `${parseValues(params)["epilogue"] ?? "none"}`;
}

/**
 * Why `peer` cannot be measured at a problem; nothing where it can.
 *
 * @param sizes The values of M at the same N and K in the same suite.
 */
export function peerUnsupported(
  peer: Peer,
  { key, sizes }: { key: OpKey; sizes: readonly number[] },
): string | undefined {
  const { a_type, b_type, c_type } = key;
  const types = [a_type, b_type, c_type];
  if (!TYPES.includes(a_type) || types.some((type) => type !== a_type)) {
    return `Peers take operands of one type of ${TYPES.join(", ")}`;
  }
  const epilogue = epilogueOf(key);
  if (!EPILOGUES.includes(epilogue)) {
    return `Peers have no epilogue ${epilogue}`;
  }
  if (peer.fused && epilogue === "none") {
    return "There is no epilogue to fuse: see torch-custom-op-mm";
  }
  if (peer.dynamic && sizes.length < 2) {
    return "A dynamic graph serves several M at one N and K; here there is one";
  }
  return undefined;
}

const FILES = [
  "capture.py",
  "channel.py",
  "choices.py",
  "compiling.py",
  "configs.py",
  "decompose.py",
  "driver.py",
  "gpu.py",
  "inductor.py",
  "kernels.py",
  "lane.py",
  "lanes.py",
  "measuring.py",
  "operands.py",
  "peers.py",
  "planning.py",
  "refusal.py",
  "shape.py",
  "stopwatch.py",
  "telemetry.py",
  "winners.py",
];

/** The program's files: their hashes are part of a row. */
export const PEER_SOURCES: readonly URL[] = FILES.map((name) =>
  new URL(`./torch/${name}`, import.meta.url)
);

/** The file that is started. */
export const PEER_PROGRAM: URL = new URL("./torch/peers.py", import.meta.url);
