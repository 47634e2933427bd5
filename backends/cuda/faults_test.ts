import { type Planted, plantedTests } from "../testdata/cuda_lanes.ts";

const RACE = /a race in|nobody wrote/;
const opened = (arrivals: number) =>
  `if (t == 0) { barrier_init(m, ${arrivals}); barrier_made(); } __syncthreads();`;
const BULK = `${opened(1)}
  if (t == 0) { barrier_expect(m, 512); copy_bulk(m + 16, in, 512, m, evict_first()); }
  barrier_wait(m, 0); out[t] = s[4 + t];`;
const ARRIVE = `${opened(4)} s[4 + t] = t;
  __syncwarp();
  if (t % 32 == 0) barrier_arrive(m);
  barrier_wait(m, 0); out[t] = s[3 + n - t];`;

const PLANTED: readonly Planted[] = [
  {
    name: "a barrier of the block is missing",
    right: "s[t] = t; __syncthreads(); out[t] = s[n - 1 - t];",
    from: "__syncthreads();",
    to: "",
    found: RACE,
  },
  {
    name: "lanes of a warp rely on running in step",
    block: 32,
    right: "s[t] = t; __syncwarp(); out[t] = s[t ^ 1];",
    from: "__syncwarp();",
    to: "",
    found: RACE,
  },
  {
    name: "an array of the kernel's own is too short",
    right: `SHARED(unsigned, a, [128]);
      a[t] = t; __syncthreads(); out[t] = a[n - 1 - t];`,
    from: "[128]",
    to: "[127]",
    found: /writes bytes \d+ to \d+ of the block's/,
  },
  {
    name: "warps meet at the wrong one of the block's barriers",
    right: "s[t] = t; sync_some<64>(1 + t / 64); out[t] = s[t ^ 32];",
    from: "t / 64",
    to: "t / 32 % 2",
    found: RACE,
  },
  {
    name: "a barrier is of more warps than come",
    right: "s[t] = t; sync_some<64>(1 + t / 64); out[t] = s[t ^ 32];",
    from: "<64>",
    to: "<128>",
    found: /waits? for (ever|each other)/,
  },
  {
    name: "copies are not waited for",
    right: `copy_async_16(m + 16 * t, in + 4 * t, true); commit_copies();
      wait_copies<0>(); __syncthreads(); out[t] = s[4 * (n - 1 - t)];`,
    from: "wait_copies<0>();",
    to: "",
    found: /is used while a copy to it is under way/,
  },
  {
    name: "copies are in no group",
    right: `copy_async_16(m + 16 * t, in + 4 * t, t % 2); commit_copies();
      wait_copies<0>(); out[t] = s[4 * t];`,
    from: "commit_copies();",
    to: "",
    found: /is used while a copy to it is under way/,
  },
  {
    name: "a group too few is waited for",
    right: `for (int i = 0; i < 2; i++) {
        copy_async_4(m + 512 * i + 4 * t, in + t, true);
        commit_copies();
      }
      wait_copies<0>(); out[t] = s[128 + t];`,
    from: "<0>",
    to: "<1>",
    found: /is used while a copy to it is under way/,
  },
  {
    name: "copies of others are read without a barrier",
    right: `copy_async_4(m + 4 * t, in + t, true); commit_copies();
      wait_copies<0>(); __syncthreads(); out[t] = s[n - 1 - t];`,
    from: "__syncthreads();",
    to: "",
    found: /a race in|under way|nobody wrote/,
  },
  {
    name: "a lane arrives for others that have not come",
    right: ARRIVE,
    from: "__syncwarp();",
    to: "",
    found: RACE,
  },
  {
    name: "a barrier counts too few arrivals",
    right: ARRIVE,
    from: "(m, 4)",
    to: "(m, 3)",
    found: /a race in|nobody wrote/,
  },
  {
    name: "a barrier counts too many arrivals",
    right: ARRIVE,
    from: "(m, 4)",
    to: "(m, 5)",
    found:
      /waits for ever for phase 0 of a barrier, which 1 arrivals of 5 and 0 bytes are missing/,
  },
  {
    name: "the wrong phase is waited for",
    right: ARRIVE,
    from: "(m, 0)",
    to: "(m, 1)",
    found: RACE,
  },
  {
    name: "a barrier is not known to be made",
    right: ARRIVE,
    from: "__syncthreads();",
    to: "",
    found: /a race in|never made/,
  },
  {
    name: "a barrier lies where the kernel writes",
    right: ARRIVE,
    from: "s[4 + t] = t",
    to: "s[t] = t",
    found: /is a barrier's, is used as memory/,
  },
  {
    name: "some do not wait for a bulk copy",
    right: BULK,
    from: "barrier_wait(m, 0)",
    to: "if (t % 2) barrier_wait(m, 0)",
    found: /a race in|under way|nobody wrote/,
  },
  {
    name: "more bytes are expected than come",
    right: BULK,
    from: "expect(m, 512)",
    to: "expect(m, 528)",
    found: /0 arrivals of 1 and 16 bytes are missing/,
  },
  {
    name: "fewer bytes are expected than come",
    right: BULK,
    from: "expect(m, 512)",
    to: "expect(m, 496)",
    found: /16 bytes more than were expected|and -16 bytes are missing/,
  },
  {
    name: "copies are not told of a barrier's making",
    right: BULK,
    from: "barrier_made();",
    to: "",
    found: /without a fence after its making/,
  },
  {
    name: "a bulk copy goes where others still read",
    right: `${BULK} __syncthreads();
      if (t == 0) { barrier_expect(m, 512); copy_bulk(m + 16, in, 512, m, evict_first()); }
      barrier_wait(m, 1); out[t] += s[4 + t];`,
    from: "out[t] = s[4 + t]; __syncthreads();",
    to: "out[t] = s[4 + t];",
    found: /a race in|under way/,
  },
  {
    name: "a block ends before its copies",
    right: BULK,
    from: "barrier_wait(m, 0); out[t] = s[4 + t];",
    to: "",
    found:
      /ends while copies to its memory are under way|nothing orders the two/,
  },
  {
    name: "a bulk copy is no multiple of 16",
    right: BULK,
    from: "in, 512",
    to: "in, 504",
    found: /a bulk copy of 504 bytes/,
  },
];

plantedTests(PLANTED);
