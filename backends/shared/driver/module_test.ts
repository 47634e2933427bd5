import {
  assert,
  assertEquals,
  assertMatch,
  assertStrictEquals,
} from "@std/assert";
import { cuda } from "../../cuda/cuda.ts";
import { launchConfig } from "./launch_config.ts";
import { pack } from "./module.ts";
import { deviceTest, failure, ONE } from "../../testdata/mock_device.ts";
import { ccTest, driverPath, kernelPath } from "../../testdata/mocks.ts";
import {
  type Arg,
  f32,
  i32,
  i64,
  type LaunchShape,
  mem,
  type Memory,
} from "../../../bench/device/queue.ts";
import { deepStrictEqual, strictEqual, throws } from "node:assert/strict";

deviceTest(
  "step() launches with the packed arguments each time",
  (device, mock) => {
    using module = device.load(kernelPath());
    using x = device.alloc(16);
    using y = device.alloc(16);
    x.upload(new Uint8Array(new Float32Array([1, 2, 3, 4]).buffer));
    const args = [mem(y), mem(x), f32(0.5), i32(4)];
    const step = module.program("affine").step(args, ONE);
    assertEquals([step.label, step.capturable], ["affine", true]);
    assertStrictEquals(mock.calls("cuLaunchKernel"), 0);
    step.enqueue();
    x.fill(0);
    step.enqueue();
    device.synchronize();
    assertStrictEquals(mock.calls("cuLaunchKernel"), 2);
    assertEquals([...new Float32Array(y.download().buffer)], [4, 4, 4, 4]);
  },
);

deviceTest("step() gives a kernel every kind of argument", (device) => {
  using module = device.load(kernelPath());
  using to = device.alloc(5 * 8 + 128);
  const bytes = Uint8Array.from({ length: 128 }, (_, i) => 255 - i);
  const args: Arg[] = [
    mem(to),
    i32(-7),
    { kind: "u32", value: 4e9 },
    i64(2n ** 53n),
    f32(0.25),
    { kind: "f64", value: 0.1 },
    { kind: "bytes", bytes, align: 64 },
  ];
  module.program("report").step(args, ONE).enqueue();
  const result = to.download();
  const numbers = [...new Float64Array(result.buffer, 0, 5)];
  assertEquals(numbers, [-7, 4e9, 2 ** 53, 0.25, 0.1]);
  assertEquals(result.slice(40), bytes);
});

deviceTest(
  "step() raises the limit of shared memory once, and only upwards",
  (device, mock) => {
    using module = device.load(kernelPath());
    const big = module.program("empty").step([], {
      ...ONE,
      sharedBytes: 200 << 10,
    });
    const small = module.program("empty").step([], {
      ...ONE,
      sharedBytes: 64 << 10,
    });
    module.program("empty").step([], { ...ONE, sharedBytes: 48 << 10 })
      .enqueue();
    small.enqueue();
    big.enqueue();
    assertStrictEquals(mock.calls("cuFuncSetAttribute"), 1);
  },
);

deviceTest(
  "step() refuses more shared memory than a block can have",
  (device) => {
    using module = device.load(kernelPath());
    const error = failure(() =>
      module.program("empty").step([], { ...ONE, sharedBytes: 300 << 10 })
    );
    assertStrictEquals(error.failure, "launch");
    assertStrictEquals(
      error.message,
      "Cannot launch empty with grid 1x1x1, block 32x1x1, 307200 bytes of shared memory: cuFuncSetAttribute: CUDA_ERROR_INVALID_VALUE (1): invalid argument",
    );
  },
);

deviceTest(
  "step() launches clusters by a configuration with attributes",
  (device, mock) => {
    using module = device.load(kernelPath());
    const shape = {
      grid: [32, 1, 1],
      block: [64, 1, 1],
      cluster: 16,
      overlap: true,
    } as const;
    module.program("empty").step([], shape).enqueue();
    const words = [...new Uint32Array(mock.lastConfig().buffer)];
    assertEquals(words.slice(0, 7), [32, 1, 1, 64, 1, 1, 0]);
    assertStrictEquals(words[12], 2);
    // The attributes follow the 14 words of the configuration, 18 words each.
    assertEquals(words.slice(14, 19), [4, 0, 16, 1, 1]);
    assertEquals(words.slice(32, 35), [6, 0, 1]);
    assertEquals([
      mock.calls("cuLaunchKernel"),
      mock.calls("cuFuncSetAttribute"),
    ], [0, 1]);
  },
);

deviceTest(
  "step() launches blocks that wait for each other together, in graphs too",
  (device, mock) => {
    using module = device.load(kernelPath());
    const program = module.program("empty");
    // 132 units, which hold two blocks of so many threads, and 16 pairs of clusters of 4.
    const alone = { grid: [66, 4, 1], block: [1024, 1, 1] } as const;
    const step = program.step([], { ...alone, cooperative: true });
    step.enqueue();
    const words = () => [...new Uint32Array(mock.lastConfig().buffer)];
    assertEquals(words().slice(12, 13), [1]);
    assertEquals(words().slice(14, 17), [2, 0, 1]);
    using graph = device.capture!(step.enqueue);
    graph.launch();
    assertStrictEquals(mock.calls("cuLaunchKernel"), 0);
    const clusters = { grid: [128, 1, 1], block: [64, 1, 1] } as const;
    const shape = { ...clusters, sharedBytes: 200 << 10, cluster: 4 };
    program.step([], { ...shape, cooperative: true }).enqueue();
    assertEquals(words().slice(14, 19), [4, 0, 4, 1, 1]);
    assertEquals(words().slice(32, 35), [2, 0, 1]);
  },
);

deviceTest(
  "step() refuses blocks that wait for each other and do not all fit",
  (device) => {
    using module = device.load(kernelPath());
    const refused = (shape: Partial<LaunchShape>) => {
      const error = failure(() =>
        module.program("empty").step([], {
          ...ONE,
          sharedBytes: 200 << 10,
          cooperative: true,
          ...shape,
        })
      );
      assertStrictEquals(error.failure, "unsupported");
      return error.message;
    };
    assertStrictEquals(
      refused({ grid: [133, 1, 1] }),
      "Cannot launch empty with grid 133x1x1, block 32x1x1, 204800 bytes of shared memory: its 133 blocks wait for other blocks, and 132 are on the device together",
    );
    assertMatch(
      refused({ grid: [132, 1, 1], cluster: 4 }),
      /, clusters of 4: its 132 blocks wait for other blocks, and 128 are on/,
    );
    assertMatch(refused({ waits: true }), /do not start early$/);
    assertMatch(refused({ overlap: true }), /do not start early$/);
  },
);

ccTest(
  "step() refuses blocks that wait where nobody tells how many fit",
  () => {
    const backend = cuda({ driver: [driverPath({ old: true })], nvml: [] });
    using device = backend.open(backend.find().devices[0]!);
    assertStrictEquals(device.info.clusters, undefined);
    using module = device.load(kernelPath());
    const error = failure(() =>
      module.program("empty").step([], { ...ONE, cooperative: true })
    );
    assertStrictEquals(error.failure, "unsupported");
    assertMatch(
      error.message,
      /^Cannot launch empty with grid 1x1x1, block 32x1x1: its blocks wait for other blocks, and this CUDA driver does not launch them together/,
    );
  },
);

deviceTest("the driver is asked once how many clusters fit", (device, mock) => {
  assertStrictEquals(mock.calls("cuOccupancyMaxActiveClusters"), 0);
  assertEquals(device.info.clusters?.slice(0, 5), [132, 66, 44, 32, 26]);
  assertStrictEquals(device.info.clusters?.length, 16);
  // A single block is asked for as such.
  assertStrictEquals(mock.calls("cuOccupancyMaxActiveClusters"), 15);
});

deviceTest("a driver that does not tell is no failure", (device, mock) => {
  mock.fault("cuModuleLoadData", 200);
  assertStrictEquals(device.info.clusters, undefined);
});

deviceTest("step() fails with the shape that the device refused", (device) => {
  using module = device.load(kernelPath());
  const program = module.program("empty");
  for (
    const [shape, text] of [
      [
        { grid: [0, 1, 1], block: [32, 1, 1] },
        "grid 0x1x1, block 32x1x1: cuLaunchKernel: CUDA_ERROR_INVALID_VALUE",
      ],
      [
        { grid: [1, 1, 1], block: [1025, 1, 1] },
        "block 1025x1x1: cuLaunchKernel: CUDA_ERROR_INVALID_VALUE",
      ],
      [
        { grid: [3, 1, 1], block: [1, 1, 1], cluster: 2 },
        "clusters of 2: cuLaunchKernelEx: CUDA_ERROR_INVALID_VALUE",
      ],
      [
        { grid: [1.5, 1, 1], block: [1, 1, 1] },
        "1.5 is not a whole number of 32 bits",
      ],
      [
        { grid: [1, -1, 1], block: [1, 1, 1] },
        "-1 is not a whole number of 32 bits",
      ],
    ] as const
  ) {
    const error = failure(() => program.step([], shape).enqueue());
    assertStrictEquals(error.failure, "launch");
    assert(error.message.includes(text), error.message);
  }
});

deviceTest("load() and program() name what they could not find", (device) => {
  using module = device.load(kernelPath());
  const missing = failure(() => module.program("nothing"));
  assertStrictEquals(missing.failure, "launch");
  assert(
    missing.message.startsWith("Cannot find the entry nothing in "),
    missing.message,
  );
  assert(
    missing.message.endsWith(
      "cuModuleGetFunction: CUDA_ERROR_NOT_FOUND (500): named symbol not found",
    ),
  );
  const source =
    new URL("../../testdata/cuda/kernel.c", import.meta.url).pathname;
  const image = failure(() => device.load(source));
  assert(
    image.message.endsWith(
      "cuModuleLoadData: CUDA_ERROR_INVALID_IMAGE (200): device kernel image is invalid",
    ),
  );
});

ccTest("step() says that an old driver has no launch with attributes", () => {
  const driver = [driverPath({ old: true })];
  const backend = cuda({ driver, nvml: [] });
  using device = backend.open(backend.find().devices[0]!);
  using module = device.load(kernelPath());
  const program = module.program("empty");
  const error = failure(() =>
    program.step([], { ...ONE, cluster: 1, overlap: true })
  );
  assertStrictEquals(error.failure, "launch");
  assertStrictEquals(
    error.message,
    "Cannot launch empty with grid 1x1x1, block 32x1x1: this CUDA driver has no launch with attributes; a newer driver has",
  );
  using interval = device.interval();
  interval.measure(() => program.step([], ONE).enqueue());
  assertStrictEquals(interval.nanoseconds(), 1_000_000);
});

const SHAPE = { grid: [8, 2, 3], block: [128, 1, 1] } as const;

Deno.test("launchConfig() lays out CUlaunchConfig and its attributes", () => {
  const shape = { ...SHAPE, sharedBytes: 1024, cluster: 4, overlap: true };
  const { bytes, attributes } = launchConfig(shape, 0x55n);
  const words = [...new Uint32Array(bytes)];
  assertEquals(words.slice(0, 10), [8, 2, 3, 128, 1, 1, 1024, 0, 0x55, 0]);
  const view = new DataView(bytes);
  const pointer = Deno.UnsafePointer.of(new Uint8Array(attributes));
  assertStrictEquals(
    view.getBigUint64(40, true),
    Deno.UnsafePointer.value(pointer),
  );
  assertEquals([words[12], words.length], [2, 14]);
  const expected = new Array(36).fill(0);
  expected.splice(0, 5, 4, 0, 4, 1, 1);
  expected.splice(18, 3, 6, 0, 1);
  assertEquals([...new Uint32Array(attributes)], expected);
});

function memoryAt(address: bigint): Memory {
  const refuse = () => {
    throw new Error("not for packing");
  };
  return {
    bytes: 8,
    address,
    upload: refuse,
    copyFrom: refuse,
    download: refuse,
    fill: refuse,
    slice: refuse,
    [Symbol.dispose]() {},
  };
}

/** The `bytes` bytes that a parameter's pointer points to. */
function at(pointer: bigint, bytes: number): DataView {
  const view = new Deno.UnsafePointerView(Deno.UnsafePointer.create(pointer)!);
  return new DataView(view.getArrayBuffer(bytes).slice(0));
}

Deno.test("pack() points at each value in its C form", () => {
  const args: Arg[] = [
    mem(memoryAt(0x7f00_0000_1234n)),
    i32(-5),
    { kind: "u32", value: 4_000_000_000 },
    i64(-(2n ** 40n)),
    f32(0.1),
    { kind: "f64", value: 0.1 },
  ];
  const { pointers, address } = pack(args);
  strictEqual(pointers.length, 6);
  const [p0, p1, p2, p3, p4, p5] = [...pointers] as [
    ...[bigint, bigint, bigint],
    ...[bigint, bigint, bigint],
  ];
  strictEqual(at(p0, 8).getBigUint64(0, true), 0x7f00_0000_1234n);
  strictEqual(at(p1, 4).getInt32(0, true), -5);
  strictEqual(at(p2, 4).getUint32(0, true), 4_000_000_000);
  strictEqual(at(p3, 8).getBigInt64(0, true), -(2n ** 40n));
  strictEqual(at(p4, 4).getFloat32(0, true), Math.fround(0.1));
  strictEqual(at(p5, 8).getFloat64(0, true), 0.1);
  const first = at(address, 8).getBigUint64(0, true);
  strictEqual(first, p0);
});

Deno.test("pack() aligns values as C does, bytes as they ask", () => {
  const bytes = Uint8Array.from({ length: 128 }, (_, i) => i);
  for (const align of [1, 16, 64, 128]) {
    const args: Arg[] = [
      i32(1),
      { kind: "bytes", bytes, align },
      i64(2),
      i32(3),
    ];
    const [p0, p1, p2, p3] = [...pack(args).pointers] as [
      bigint,
      bigint,
      bigint,
      bigint,
    ];
    strictEqual(p0 % 4n, 0n);
    strictEqual(p1 % BigInt(align), 0n, `bytes at ${p1}`);
    strictEqual(p2 % 8n, 0n);
    strictEqual(at(p3, 4).getInt32(0, true), 3);
    deepStrictEqual(new Uint8Array(at(p1, 128).buffer), bytes);
  }
});

Deno.test("pack() copies bytes, so that later changes are not launched", () => {
  const bytes = new Uint8Array([1, 2, 3]);
  const { pointers } = pack([{ kind: "bytes", bytes, align: 1 }]);
  bytes[0] = 9;
  strictEqual(at(pointers[0]!, 3).getUint8(0), 1);
});

Deno.test("pack() refuses an alignment that C does not have", () => {
  const bytes = new Uint8Array(4);
  throws(
    () => pack([{ kind: "bytes", bytes, align: 12 }]),
    /to 12 bytes: not a power of two$/,
  );
});
