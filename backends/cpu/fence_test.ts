import { assert, assertEquals, assertStrictEquals } from "@std/assert";
import { pathToFileURL } from "node:url";
import type { Fence } from "../../bench/device/device.ts";
import { i32, i64, mem, type Memory } from "../../bench/device/queue.ts";
import { ccTest, scratch } from "../testdata/mocks.ts";
import { cpu } from "./cpu.ts";

const ONE = { grid: [1, 1, 1], block: [1, 1, 1] } as const;

/** A kernel that touches one byte, `at` bytes from the start of its memory. */
const POKE = `
volatile char seen;
void poke(volatile char *p, long long at, int write) {
  if (write) p[at] = 7;
  else seen = p[at];
}`;

/** Paths of the kernel and of the instruments, compiled once. */
let binaries: Promise<readonly [string, string]> | undefined;

async function compile(): Promise<readonly [string, string]> {
  const { arch } = cpu.find().devices[0]!;
  const source = scratch("poke.c");
  await Deno.writeTextFile(source, POKE);
  const compiled = async (source: URL, to: string) => {
    await cpu.compiler(arch).compile({ source, defines: {} }, to);
    return to;
  };
  return [
    await compiled(pathToFileURL(source), scratch("poke.so")),
    await compiled(cpu.instruments, scratch("instruments.so")),
  ];
}

/** Opens a fence, and hands over a function that pokes. */
async function withFence(
  use: (
    fence: Fence,
    poke: (memory: Memory, at: number, write: boolean) => void,
  ) => void,
): Promise<void> {
  const [kernel, instruments] = await (binaries ??= compile());
  using device = cpu.open(cpu.find().devices[0]!);
  using kernels = device.load(kernel);
  using own = device.load(instruments);
  using fence = device.fence!(own);
  assert(fence);
  const program = kernels.program("poke");
  use(
    fence,
    (memory, at, write) =>
      program.step([mem(memory), i64(at), i32(Number(write))], ONE).enqueue(),
  );
}

const linuxTest = (name: string, run: Parameters<typeof withFence>[0]) =>
  Deno.build.os === "linux" ? ccTest(name, () => withFence(run)) : Deno.test({
    name: `${name} (ignored: not Linux)`,
    ignore: true,
    fn() {},
  });

linuxTest(
  "a fence says nothing of what is within, and keeps its values",
  (fence, poke) => {
    const memory = fence.alloc(128);
    memory.upload(new Uint8Array(128).fill(3));
    poke(memory, 0, true);
    poke(memory, 127, true);
    fence.seal(memory);
    poke(memory, 64, false);
    assertStrictEquals(fence.seen!(memory), undefined);
    const bytes = memory.download();
    assertEquals([bytes[0], bytes[1], bytes[127]], [7, 3, 7]);
  },
);

for (
  const [what, at, write, seen] of [
    ["a read just past the end", 128, false, "touched right past its end"],
    ["a write far past", 1 << 22, true, "written 4194176 bytes past its end"],
    ["a read before", -4096, false, "touched 4096 bytes before its start"],
  ] as const
) {
  linuxTest(`a fence names ${what}, and only there`, (fence, poke) => {
    const [memory, other] = [fence.alloc(128), fence.alloc(5000)];
    poke(memory, at, write);
    poke(memory, -60_000, true);
    assertStrictEquals(fence.seen!(memory), `was ${seen}`);
    assertStrictEquals(fence.seen!(other), undefined);
  });
}

linuxTest(
  "a fence names a write to what is sealed, and lets it through",
  (fence, poke) => {
    const memory = fence.alloc(8192);
    fence.seal(memory);
    poke(memory, 5000, true);
    assertStrictEquals(
      fence.seen!(memory),
      "is an input, and was written to at byte 5000",
    );
    assertStrictEquals(memory.download()[5000], 7);
  },
);
