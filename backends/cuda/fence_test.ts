import { assertEquals, assertMatch, assertStrictEquals } from "@std/assert";
import type { Device, Fence } from "../../bench/device/device.ts";
import { i32, mem, type Memory } from "../../bench/device/queue.ts";
import { CaseError } from "../../bench/model/errors.ts";
import { cudaTest, emulatedCuda } from "../testdata/cuda_mocks.ts";
import { deviceTest } from "../testdata/mock_device.ts";
import { scratch } from "../testdata/mocks.ts";
import { pathToFileURL } from "node:url";

/** CUDA_ERROR_NOT_SUPPORTED of cuda.h. */
const NOT_SUPPORTED = 801;

/** A kernel that touches one element, `at` elements from the start of its memory. */
const POKE = `extern "C" __global__ void poke(int *p, int at, int write) {
  if (write) p[at] = 7;
  else if (p[at] == 12345) p[0] = 0;
}`;

let compiled: Promise<string> | undefined;

/** The path of the compiled kernel. */
async function compile(): Promise<string> {
  const [source, binary] = [scratch("poke.cu"), scratch("poke.cubin")];
  await Deno.writeTextFile(source, POKE);
  const build = { source: pathToFileURL(source), defines: {} };
  await emulatedCuda().compiler("sm_90a").compile(build, binary);
  return binary;
}

/** Opens a fence on `device`, and hands over a function that pokes and waits. */
async function withFence(
  device: Device,
  use: (
    fence: Fence,
    poke: (memory: Memory, at: number, write: boolean) => void,
  ) => void,
): Promise<void> {
  using module = device.load(await (compiled ??= compile()));
  using fence = device.fence!(module)!;
  const program = module.program("poke");
  use(fence, (memory, at, write) => {
    program.step([mem(memory), i32(at), i32(Number(write))], {
      grid: [1, 1, 1],
      block: [1, 1, 1],
    }).enqueue();
    device.synchronize();
  });
}

/** The message of the error of `work`. */
function fault(work: () => void): string {
  try {
    work();
  } catch (error) {
    if (error instanceof CaseError) return error.message;
    throw error;
  }
  return "";
}

cudaTest(
  "a fence lets kernels touch all of its memory",
  (device) =>
    withFence(device, (fence, poke) => {
      const memory = fence.alloc(512);
      memory.upload(new Uint8Array(512).fill(3));
      poke(memory, 0, true);
      poke(memory, 127, true);
      fence.seal(memory);
      poke(memory, 64, false);
      const words = new Uint32Array(memory.download().buffer);
      assertEquals([words[0], words[1], words[127]], [7, 0x03030303, 7]);
    }),
);

for (
  const [what, at, write] of [
    ["a read just past the end", 128, false],
    ["a write just past the end", 128, true],
    ["a read far before", -(1 << 22), false],
  ] as const
) {
  cudaTest(
    `a fence stops ${what}`,
    (device) =>
      withFence(device, (fence, poke) => {
        // Another allocation is not taken for a part of it.
        const [memory] = [fence.alloc(512), fence.alloc(512)];
        assertMatch(
          fault(() => poke(memory!, at, write)),
          new RegExp(
            `${
              write ? "writes" : "reads"
            } 4 bytes at 0x[0-9a-f]+, which is no memory`,
          ),
        );
      }),
  );
}

cudaTest(
  "a fence stops a write to what is sealed",
  (device) =>
    withFence(device, (fence, poke) => {
      const memory = fence.alloc(512);
      fence.seal(memory);
      assertMatch(
        fault(() => poke(memory, 5, true)),
        /writes 4 bytes to global memory that is read-only, at byte 20$/,
      );
    }),
);

cudaTest(
  "a fence does without read-only memory where the driver has none",
  (device, mock) =>
    withFence(device, (fence, poke) => {
      const memory = fence.alloc(512);
      mock.fault("cuMemSetAccess", NOT_SUPPORTED);
      fence.seal(memory);
      poke(memory, 5, true);
      assertStrictEquals(new Uint32Array(memory.download().buffer)[5], 7);
    }),
);

cudaTest(
  "fence() gives none where the device cannot map memory",
  (device, mock) => {
    mock.fault("cuMemGetAllocationGranularity", NOT_SUPPORTED);
    assertStrictEquals(
      device.fence!({
        program: () => {
          throw new Error("unused");
        },
        [Symbol.dispose]() {},
      }),
      undefined,
    );
  },
);

cudaTest(
  "a fence gives back what it took when memory runs out",
  (device, mock) =>
    withFence(device, (fence) => {
      mock.fault("cuMemCreate", 2);
      assertMatch(fault(() => fence.alloc(512)), /OUT_OF_MEMORY/);
    }),
);

deviceTest(
  "fence() gives none where the driver lacks its functions",
  (device) => {
    assertStrictEquals(
      device.fence!({
        program: () => {
          throw new Error("unused");
        },
        [Symbol.dispose]() {},
      }),
      undefined,
    );
  },
);
