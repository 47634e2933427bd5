import { assertMatch, assertStrictEquals } from "@std/assert";
import { i32, mem } from "../../bench/device/queue.ts";
import { compileMetal, metalTest } from "../testdata/metal_mocks.ts";
import { failure } from "../testdata/mock_device.ts";

const ONE = { grid: [1, 1, 1], block: [32, 1, 1] } as const;
const NONE = "KERNEL(64) void none(WHERE) {}";

metalTest(
  "synchronize() tells late what a kernel did wrong, and once",
  async (device) => {
    const text =
      `KERNEL(64) void out(device float* p [[buffer(0)]], WHERE) { p[tid + 1] = 1; }`;
    using module = device.load(await compileMetal(text));
    using memory = device.alloc(256);
    module.program("out").step([mem(memory)], {
      grid: [1, 1, 1],
      block: [64, 1, 1],
    }).enqueue();
    const error = failure(() => device.synchronize());
    assertStrictEquals(error.failure, "launch");
    assertMatch(
      error.message,
      /^waitUntilCompleted: MTLCommandBufferErrorPageFault \(3\): thread 63 of block 0: writes 4 bytes at /,
    );
    device.synchronize();
  },
);

metalTest(
  "alloc(), load() and step() pass on injected faults",
  async (device, mock) => {
    mock.fault("newBufferWithLength:options:");
    const oom = failure(() => device.alloc(8));
    assertStrictEquals(oom.failure, "oom");
    assertMatch(
      oom.message,
      /^Cannot allocate 8 bytes of device memory: 0 of \d+/,
    );
    const binary = await compileMetal(NONE);
    mock.fault("newLibraryWithSource:options:error:");
    assertMatch(
      failure(() => device.load(binary)).message,
      /^Cannot load .*newLibraryWithSource: nil$/,
    );
    using module = device.load(binary);
    mock.fault("pipeline", 2);
    assertMatch(
      failure(() => module.program("none")).message,
      /^Cannot make a pipeline of none in .*: Encountered unlowered function/,
    );
    const step = module.program("none").step([], ONE);
    for (
      const [code, kind, name] of [
        [8, "oom", "OutOfMemory"],
        [2, "launch", "Timeout"],
        [11, "launch", "DeviceRemoved"],
      ] as const
    ) {
      mock.fault("commit", code);
      step.enqueue();
      const { failure: how, message } = failure(() => device.synchronize());
      assertStrictEquals(how, kind);
      assertMatch(
        message,
        new RegExp(`MTLCommandBufferError${name} \\(${code}\\)`),
      );
    }
    // A device that was lost stays so.
    step.enqueue();
    assertMatch(failure(() => device.synchronize()).message, /DeviceRemoved/);
    mock.reset();
    mock.fault("commandBuffer");
    assertMatch(failure(() => step.enqueue()).message, /^commandBuffer: nil$/);
  },
);

metalTest("step() refuses what Metal would not check", async (device) => {
  using module = device.load(await compileMetal(NONE));
  const program = module.program("none");
  const refused = (shape: object, args: Parameters<typeof program.step>[0]) =>
    failure(() => program.step(args, { ...ONE, ...shape })).message;
  assertMatch(
    refused({ block: [65, 1, 1] }, []),
    /block 65x1x1: 65 threads, of 64/,
  );
  assertMatch(
    refused({ sharedBytes: 32769 }, []),
    /32769 bytes .* there are 32768/,
  );
  assertMatch(refused({ grid: [0, 1, 1] }, []), /0 is no size/);
  assertMatch(refused({ cluster: 2 }, []), /no clusters/);
  assertMatch(refused({}, [{ kind: "f64", value: 1 }]), /no double precision/);
  const bytes = {
    kind: "bytes",
    align: 1,
    bytes: new Uint8Array(4097),
  } as const;
  assertMatch(refused({}, [bytes]), /more than 4096 bytes/);
  assertMatch(
    refused({}, Array.from({ length: 32 }, () => i32(1))),
    /32 arguments/,
  );
  assertMatch(
    failure(() => module.program("absent")).message,
    /^Cannot find the entry absent in /,
  );
});
