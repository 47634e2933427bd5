import { assertMatch, assertStrictEquals } from "@std/assert";
import type { Device } from "../../bench/device/device.ts";
import { i32, mem } from "../../bench/device/queue.ts";
import { compileHip, hipTest } from "../testdata/hip_mocks.ts";
import { failure } from "../testdata/mock_device.ts";

interface Run {
  readonly grid?: number;
  readonly block?: number;
  readonly lds?: number;
}

/** Runs the kernel `entry(int* p, int n)` over zeros; what the device says at the next wait, or nothing. */
function said(
  device: Device,
  { binary, entry }: { readonly binary: string; readonly entry: string },
  { grid = 1, block = 128, lds = 1024 }: Run,
): string {
  using module = device.load(binary);
  using memory = device.alloc(4096);
  memory.fill(0);
  module.program(entry).step([mem(memory), i32(block)], {
    grid: [grid, 1, 1],
    block: [block, 1, 1],
    sharedBytes: lds,
  }).enqueue();
  try {
    device.synchronize();
    return "";
  } catch {
    return failure(() => device.synchronize()).message;
  }
}

const kernel = (name: string, body: string) =>
  `KERNEL(256) void ${name}(int* p, int n) { int t = thread_x(); int* s = (int*)LDS; ${body} }`;

/** What is wrong with a kernel, and how it is found; with `mended`, nothing is. */
interface Planted extends Run {
  readonly name: string;
  readonly wrong: string;
  readonly right: string;
  readonly found: RegExp;
}

const PLANTED: readonly Planted[] = [
  {
    name: "a barrier between waves is missing",
    wrong: "s[t] = t; p[t] = s[n - 1 - t];",
    right: "s[t] = t; barrier(); p[t] = s[n - 1 - t];",
    found: /a race in the block's memory|which nobody wrote/,
  },
  {
    name: "a barrier before memory is used again is missing",
    wrong: "s[t] = t; barrier(); int x = s[n - 1 - t]; s[t] = x; p[t] = x;",
    right:
      "s[t] = t; barrier(); int x = s[n - 1 - t]; barrier(); s[t] = x; p[t] = x;",
    found:
      /a race in the block's memory at byte \d+: thread \d+ of block 0 (read it, this one writes|wrote it, this one reads) it/,
  },
  {
    name: "lanes of one wave rely on running in step",
    block: 64,
    wrong: "s[t] = t; p[t] = s[t ^ 1];",
    right: "s[t] = t; barrier(); p[t] = s[t ^ 1];",
    found: /a race in the block's memory|which nobody wrote/,
  },
  {
    name: "the block's memory is read before it is written",
    wrong: "if (t) s[t] = t; barrier(); p[t] = s[t];",
    right: "s[t] = t; barrier(); p[t] = s[t];",
    found:
      /thread 0 of block 0 at k\.hip:\d+: reads byte 0 of the block's memory, which nobody wrote/,
  },
  {
    name: "the block's memory is too small",
    lds: 508,
    wrong: "s[t] = t; barrier(); p[t] = s[t];",
    right: "if (t < 127) s[t] = t;",
    found: /writes bytes 508 to 512 of the block's 508 bytes of memory/,
  },
  {
    name: "global memory ends before the kernel does",
    wrong: "p[t + 1000] = 1;",
    right: "p[t + 800] = 1;",
    found: /writes 4 bytes at 0x[0-9a-f]+, which is no memory of the kernel's/,
  },
  {
    name: "an address is not aligned",
    wrong: "*(u32x4*)(p + 4 * t + 1) = u32x4{};",
    right: "*(u32x4*)(p + 4 * t) = u32x4{};",
    found: /writes 16 bytes at an address that is no multiple of it/,
  },
  {
    name: "two blocks write the same place",
    grid: 2,
    wrong: "p[t] = t;",
    right: "p[t + n * block_x()] = t;",
    found: /a race in global memory at byte 0|a race in global memory/,
  },
  {
    name: "lanes of a wave part at an exchange",
    wrong: "if (t % 2) p[t] = lane_xor(t, 2); else barrier();",
    right: "p[t] = lane_xor(t, 2); barrier();",
    found: /wait for each other: one at/,
  },
  {
    name: "a lane has ended when its wave multiplies",
    wrong:
      "if (t == 3) return; f32x4 c = {}; c = mfma_f32(1, 1, c); p[t] = c[0];",
    right: "f32x4 c = {}; c = mfma_f32(1, 1, c); p[t] = c[0];",
    found: /mfma_f32 of a wave of which lanes have ended/,
  },
  {
    name: "a wave waits at a barrier that another passed by",
    wrong:
      "for (int i = 0; i < t / 64; i++) barrier(); while (!agent_load_acquire(p)) pause();",
    right: "barrier();",
    found: /wait for each other|waits for ever/,
  },
  {
    name: "a block has more threads than it was compiled for",
    block: 512,
    wrong: "p[t] = 1;",
    right: "p[t] = 1;",
    found: /a block of 512 threads, of 256 at most/,
  },
  {
    name: "a signal is given before what it is for",
    grid: 2,
    wrong: SIGNAL("agent_store_release(p, 1); p[8 + t] = t;"),
    right: SIGNAL(
      "p[8 + t] = t; barrier(); if (t == 0) agent_store_release(p, 1);",
    ),
    found: /a race in global memory|atomic/,
  },
  {
    name: "a signal is given before the other waves have written",
    grid: 2,
    wrong: SIGNAL("p[8 + t] = t; if (t == 0) agent_store_release(p, 1);"),
    right: SIGNAL(
      "p[8 + t] = t; barrier(); if (t == 0) agent_store_release(p, 1);",
    ),
    found: /a race in global memory/,
  },
  {
    name: "a signal does not release",
    grid: 2,
    wrong: SIGNAL("p[8 + t] = t; barrier(); if (t == 0) agent_store(p, 1);"),
    right: SIGNAL(
      "p[8 + t] = t; barrier(); if (t == 0) agent_store_release(p, 1);",
    ),
    found: /a race in global memory/,
  },
  {
    name: "one wave waits for a signal and the others go on",
    grid: 2,
    wrong: SIGNAL(
      "p[8 + t] = t; barrier(); if (t == 0) agent_store_release(p, 1);",
      "",
    ),
    right: SIGNAL(
      "p[8 + t] = t; barrier(); if (t == 0) agent_store_release(p, 1);",
    ),
    found: /a race in global memory/,
  },
];

/** Block 0 writes and signals; block 1 waits and reads. */
function SIGNAL(give: string, meet = "barrier();"): string {
  return `if (block_x() == 0) { ${give} } else {
    if (t == 0) while (agent_load_acquire(p) == 0) pause();
    ${meet}
    p[512 + t] = p[8 + n - 1 - t];
  }`;
}

/** All kernels, compiled at once. */
let compiled: Promise<string> | undefined;
const compile = () =>
  compiled ??= compileHip(
    PLANTED.flatMap(({ wrong, right }, i) => [
      kernel(`wrong_${i}`, wrong),
      kernel(`right_${i}`, right),
    ]).join("\n"),
  );

for (
  const [i, { name, wrong: _, right: __, found, ...run }] of PLANTED.entries()
) {
  hipTest(`the emulator finds that ${name}`, async (device, mock) => {
    // Whatever the order, but for what depends on it: some order of a few.
    const orders = [1, 2, 3, 4, 5, 6];
    const texts: string[] = [];
    const wrongly = { binary: await compile(), entry: `wrong_${i}` };
    for (const seed of orders) {
      mock.reset();
      mock.seed(seed);
      texts.push(said(device, wrongly, run));
      if (texts.at(-1) !== "") break;
    }
    assertMatch(texts.at(-1)!, found);
    if (run.block !== undefined && run.block > 256) return mock.reset();
    const rightly = { ...wrongly, entry: `right_${i}` };
    for (const seed of orders.slice(0, 3)) {
      mock.reset();
      mock.seed(seed);
      assertStrictEquals(said(device, rightly, run), "");
    }
    mock.reset();
  });
}
