import { type Planted, plantedTests } from "../testdata/cuda_lanes.ts";

const opened = (arrivals: number) =>
  `if (t == 0) { barrier_init(m, ${arrivals}); barrier_made(); } __syncthreads();`;
const MAIL = `
  if (t == 0) barrier_open(m, 64);
  __syncwarp();
  cluster_arrive();
  cluster_wait();
  float x[4] = {1, 2, 3, 4};
  for (int r = 0; t == 0 && r < 4; r++) store_async(m + 16 + 16 * cluster_rank(), m, r, x);
  barrier_wait_cluster<0>(m);
  if (t == 0) out[blockIdx.x] = s[4] + s[19];`;
const GIVE = `cluster_sync();
  if (t == 0) store_cluster(m + 4 * cluster_rank(), 0, 1.5f);
  cluster_arrive();
  if (cluster_rank() > 0) return;
  cluster_wait();
  if (t == 0) out[0] = s[3];`;
const REMOTE = `${opened(2)} cluster_sync();
  if (t == 0) barrier_arrive(m, 0);
  if (cluster_rank() == 0) barrier_wait(m, 0);
  cluster_sync();`;
const MULTICAST = `${opened(1)} cluster_sync();
  int r = cluster_rank();
  if (t == 0) {
    barrier_expect(m, 512);
    copy_bulk_to_all(m + 16 + 256 * r, in + 64 * r, 256, m, evict_normal(), 3);
  }
  barrier_wait(m, 0);
  out[n * r + t] = s[4 + t];
  cluster_sync();`;
const LAST = `SHARED(unsigned, before);
  out[64 + blockIdx.x] = blockIdx.x;
  __syncthreads();
  if (t == 0) before = decrement_acq_rel(out + 32, 3);
  __syncthreads();
  for (int i = 0; before == 1 && t == 0 && i < 4; i++) s[i] = out[64 + i];`;
const EXCHANGE = `float x[4] = {1, 2, 3, 4}, *f = (float*)(out + 64);
  if (t > 0) return;
  store_relaxed(f + 4 * blockIdx.x, x);
  do load_relaxed(x, f + 4 * ((blockIdx.x + 1) % 4));
  while (x[0] == 0 || x[1] == 0 || x[2] == 0 || x[3] == 0);
  out[blockIdx.x] = x[1];`;
const PLANTED: readonly Planted[] = [
  {
    name: "a block uses an address of another's memory as its own",
    grid: 2,
    cluster: 2,
    right: `store_shared_u32(m + 4 * t, 1); out[n * blockIdx.x + t] = s[t];`,
    from: "m + 4 * t",
    to: "(m & 0xffffff) + 4 * t",
    found: /is of block 0 of the cluster, and is used as one of block 1's own/,
  },
  {
    name: "mail is sent before boxes are open",
    grid: 8,
    cluster: 4,
    right: MAIL,
    from: "cluster_arrive();\n  cluster_wait();",
    to: "",
    found: /never made|a race in|has ended/,
  },
  {
    name: "mail is not waited for",
    grid: 8,
    cluster: 4,
    right: MAIL,
    from: "barrier_wait_cluster",
    to: "if (t) barrier_wait_cluster",
    found: /a race in|under way|nobody wrote/,
  },
  {
    name: "a box is left before the mail has come",
    grid: 8,
    cluster: 4,
    right: MAIL,
    from:
      "barrier_wait_cluster<0>(m);\n  if (t == 0) out[blockIdx.x] = s[4] + s[19];",
    to: "",
    found: /has ended|under way|nothing orders the two/,
  },
  {
    name: "a block waits at the cluster's barrier without having arrived",
    grid: 8,
    cluster: 4,
    right: MAIL,
    from: "cluster_arrive();",
    to: "",
    found: /without having arrived/,
  },
  {
    name: "a block's memory is used before it runs",
    grid: 4,
    cluster: 4,
    right: GIVE,
    from: "cluster_sync();",
    to: "",
    found: /before it is known to have started|has ended/,
  },
  {
    name: "a cluster's barrier releases nothing",
    grid: 4,
    cluster: 4,
    right: GIVE,
    from: "cluster_arrive();",
    to: "cluster_arrive_relaxed();",
    found: /a race in the block's memory|nothing orders the two/,
  },
  {
    name: "a block ends though others write to it",
    grid: 4,
    cluster: 4,
    right: GIVE,
    from: "cluster_rank() > 0",
    to: "true",
    found: /has ended|nothing orders the two/,
  },
  {
    name: "blocks arrive at a barrier that may not be made",
    grid: 2,
    cluster: 2,
    right: REMOTE,
    from: "__syncthreads(); cluster_sync();",
    to: "__syncthreads();",
    found: /a race in block 0's memory|never made/,
  },
  {
    name: "a block of a cluster copies too little for all",
    grid: 2,
    cluster: 2,
    right: MULTICAST,
    from: "64 * r, 256",
    to: "64 * r, 240",
    found: /bytes are missing/,
  },
  {
    name: "a copy for all goes to some",
    grid: 2,
    cluster: 2,
    right: MULTICAST,
    from: "evict_normal(), 3",
    to: "evict_normal(), 1",
    found: /bytes are missing|more than were expected/,
  },
  {
    name: "the last block does not know what the others wrote",
    grid: 4,
    block: 64,
    right: LAST.replace(
      "out[64 + blockIdx.x]",
      "if (t == 63) out[64 + blockIdx.x]",
    ),
    from: "blockIdx.x;\n  __syncthreads();",
    to: "blockIdx.x;",
    found: /a race in global memory/,
  },
  {
    name: "what other blocks wrote is read as if it had been there",
    grid: 4,
    block: 32,
    cooperative: true,
    right: EXCHANGE,
    from: "= x[1]",
    to: "= f[(4 * blockIdx.x + 4) % 16]",
    found: /a race in global memory/,
  },
  {
    name: "a kernel reads what it wrote past the coherent caches",
    right:
      "unsigned x[1]; out[t] = t; load_once(x, in + t, evict_first()); out[t] = x[0];",
    from: "in + t",
    to: "out + t",
    found: /as what no kernel at work writes/,
  },
  {
    name: "lanes of a warp part at a shuffle",
    block: 32,
    right: "out[t] = __shfl_xor_sync(~0u, t, 1);",
    from: "out[t]",
    to: "if (t < 31) out[t]",
    found: /of a wave of which lanes have ended/,
  },
];

plantedTests(PLANTED);
