import { assertEquals, assertMatch, assertStrictEquals } from "@std/assert";
import {
  type Device,
  type TensorBox,
  tensorMapOn,
  type TensorShape,
} from "../../../bench/device/device.ts";
import { cuda } from "../../cuda/cuda.ts";
import {
  type Asked,
  deviceTest,
  encoded,
  failure,
} from "../../testdata/mock_device.ts";
import { ccTest, driverPath } from "../../testdata/mocks.ts";

const SHAPE: TensorShape = {
  type: "bf16",
  rows: 100,
  columns: 72,
  ld: 80,
  boxRows: 128,
  boxColumns: 64,
};

/** What the mock driver wrote: emulator/emulator.h. */
function written(device: Device, shape: TensorShape) {
  using memory = device.alloc(1 << 20);
  const map = device.tensorMap!(memory.slice(16, memory.bytes - 16), shape);
  if (map.kind !== "bytes") throw new Error(map.kind);
  assertStrictEquals(map.align, 64);
  assertStrictEquals(map.bytes.length, 128);
  const view = new DataView(map.bytes.slice().buffer);
  const [at, ...matrix] = [8, 16, 24, 32].map((offset) =>
    view.getBigUint64(offset, true)
  );
  assertStrictEquals(at, memory.address + 16n);
  return [
    ...matrix.map(Number),
    ...[40, 44, 48, 52, 56, 60].map((offset) => view.getUint32(offset, true)),
  ];
}

deviceTest(
  "tensorMap() hands over shape and pitch, boxes and their swizzle",
  (device, mock) => {
    assertStrictEquals(device.info.tensorMaps, true);
    // Columns, rows, bytes of a row, the box's columns and rows, bytes of an element; swizzle,
    // whether the emulator has it all, promotion.
    assertEquals(written(device, SHAPE), [
      ...[72, 100, 160, 64, 128, 2],
      ...[3, 1, 3],
    ]);
    assertStrictEquals(mock.calls("cuTensorMapEncodeTiled"), 1);
    const f32 = { ...SHAPE, type: "f32", boxColumns: 16, boxRows: 1 } as const;
    assertEquals(written(device, f32), [
      ...[72, 100, 320, 16, 1, 4],
      ...[2, 1, 3],
    ]);
    const e4m3 = { ...SHAPE, type: "e4m3", boxColumns: 32 } as const;
    assertEquals(written(device, e4m3), [
      ...[72, 100, 80, 32, 128, 1],
      ...[1, 1, 3],
    ]);
  },
);

/** Every option at other values than a matrix has, and what the driver is to get. */
const OPTIONS: readonly (readonly [Partial<TensorBox>, Asked])[] = [
  [{}, {}],
  [{ dims: [64], strides: [], box: [32] }, {
    rank: 1,
    dims: [64],
    strides: [],
    box: [32],
    steps: [1],
  }],
  [{ dims: [32, 8, 4], strides: [128, 1024], box: [32, 4, 2] }, {
    rank: 3,
    dims: [32, 8, 4],
    strides: [128, 1024],
    box: [32, 4, 2],
    steps: [1, 1, 1],
  }],
  [{ steps: [1, 2] }, { steps: [1, 2] }],
  [{ swizzle: 32, box: [8, 8] }, { swizzle: 1, box: [8, 8] }],
  [{ swizzle: "128_atom32" }, { swizzle: 4 }],
  [{ swizzle: "128_atom32_flip8" }, { swizzle: 5 }],
  [{ swizzle: "128_atom64" }, { swizzle: 6 }],
  [{ promotion: 128 }, { promotion: 2 }],
  [{ fill: "nan" }, { fill: 1 }],
  [{ type: "tf32" }, { type: 11 }],
];
for (const [change, asked] of OPTIONS) {
  deviceTest(
    `tensorMap() hands over every option: ${JSON.stringify(change)}`,
    (device) => {
      using memory = device.alloc(1 << 14);
      const map = device.tensorMap!(memory, {
        type: "f32",
        dims: [32, 64],
        strides: [128],
        box: [32, 8],
        ...change,
      });
      const { address } = memory;
      assertEquals(map, encoded(driverPath(), { ...asked, address }));
    },
  );
}

deviceTest("tensorMap() refuses tensors that are none", (device) => {
  using memory = device.alloc(128 * 64);
  const tensor: TensorBox = {
    type: "f32",
    dims: [32, 64],
    strides: [128],
    box: [32, 8],
  };
  tensorMapOn(device, memory, tensor);
  const refused = (change: Partial<TensorBox>) =>
    failure(() => tensorMapOn(device, memory, { ...tensor, ...change }));
  for (
    const [change, why] of [
      [{ dims: [32, 65] }, /it takes 8320 bytes, and the memory has 8192$/],
      [
        { strides: [] },
        /^Cannot map boxes of 32x8 of the f32 tensor of 32x64, innermost first, at 0x[0-9a-f]+: it has 2 dimensions, 0 strides, 2 lengths/,
      ],
      [{ box: [0, 8] }, /: 0 is not a whole number from 1 to 2\^40$/],
      [{ interleave: 16 }, /: cuTensorMapEncodeTiled: CUDA_ERROR_INVALID_VAL/],
    ] as const
  ) {
    const error = refused(change);
    assertStrictEquals(error.failure, "launch");
    assertMatch(error.message, why);
  }
});

const REFUSED: Readonly<
  Record<string, readonly [Partial<TensorShape>, RegExp]>
> = {
  "a box without a swizzle": [
    { boxColumns: 24 },
    /^Cannot map boxes of 128x24 of the bf16 matrix of 100x72, rows 80 apart, at 0x[0-9a-f]+: a box's row has 48 bytes: there are swizzles of 32, 64 and 128$/,
  ],
  "a box of more than 256 rows": [
    { boxRows: 257 },
    /^Cannot map boxes of 257x64 of .*: cuTensorMapEncodeTiled: CUDA_ERROR_INVALID_VALUE \(1\): invalid argument$/,
  ],
  "rows at no multiple of 16 bytes": [
    { ld: 76 },
    /rows 76 apart, .*: cuTensorMapEncodeTiled: CUDA_ERROR_INVALID_VALUE/,
  ],
  "a matrix beyond the memory": [
    { rows: 102 },
    /: it takes 16304 bytes, and the memory has 16144$/,
  ],
  "half a row": [
    { rows: 1.5 },
    /: 1\.5 is not a whole number from 1 to 2\^40$/,
  ],
  "nothing": [{ columns: 0 }, /: 0 is not a whole number from 1 to 2\^40$/],
};
for (const [name, [change, message]] of Object.entries(REFUSED)) {
  deviceTest(`tensorMap() refuses ${name}`, (device) => {
    // 101 rows, the last as long as it need be.
    using memory = device.alloc((100 * 80 + 72) * 2);
    tensorMapOn(device, memory, { ...SHAPE, rows: 101 });
    const error = failure(() =>
      tensorMapOn(device, memory, { ...SHAPE, ...change })
    );
    assertStrictEquals(error.failure, "launch");
    assertMatch(error.message, message);
  });
}

deviceTest(
  "tensorMap() refuses an address that is no multiple of 16",
  (device) => {
    using memory = device.alloc(1 << 20);
    const error = failure(() =>
      device.tensorMap!(memory.slice(8, 1 << 19), SHAPE)
    );
    assertMatch(
      error.message,
      /at 0x[0-9a-f]*8: cuTensorMapEncodeTiled: CUDA_ERROR_INV/,
    );
  },
);

ccTest("tensorMapOn() says that an old driver has no tensor maps", () => {
  const backend = cuda({ driver: [driverPath({ old: true })], nvml: [] });
  using device = backend.open(backend.find().devices[0]!);
  assertStrictEquals(device.info.tensorMaps, false);
  assertStrictEquals(device.tensorMap, undefined);
  using memory = device.alloc(1 << 20);
  const error = failure(() => tensorMapOn(device, memory, SHAPE));
  assertStrictEquals(error.failure, "unsupported");
  assertStrictEquals(
    error.message,
    "Mock GPU (sm_90a) with driver 13.0 has no tensor maps: a GPU of sm_90 or later with a driver of CUDA 12 or later has",
  );
});

/** By cuda.h at cuTensorMapEncodeTiled: what is just not refused, and what just is. */
const LIMITS: readonly (readonly [taken: Asked, refused: Asked])[] = [
  [{ off: 64 }, { off: 32 }],
  [{ address: 0x10010n }, { address: 0x10008n }],
  [{ strides: [144] }, { strides: [136] }],
  [{ strides: [2 ** 40 - 16] }, { strides: [2 ** 40] }],
  [{ dims: [1, 2 ** 32] }, { dims: [1, 2 ** 32 + 1] }],
  [{ dims: [1, 1] }, { dims: [0, 1] }],
  [{ box: [256, 256] }, { box: [256, 257] }],
  [{ box: [4, 1] }, { box: [4, 0] }],
  [{ box: [12, 1] }, { box: [13, 1] }],
  [{ swizzle: 1, box: [8, 1] }, { swizzle: 1, box: [12, 1] }],
  [{ swizzle: 2, box: [16, 1] }, { swizzle: 2, box: [20, 1] }],
  [{ swizzle: 3, box: [32, 1] }, { swizzle: 3, box: [36, 1] }],
  [{ steps: [0, 8] }, { steps: [0, 9] }],
  [{ steps: [9, 1] }, { steps: [1, 0] }],
  [{ type: 12 }, { type: 16 }],
  [{ rank: 1 }, { rank: 0 }],
  [{ swizzle: 0 }, { swizzle: 7 }],
  [{ interleave: 0 }, { interleave: 1 }],
  [{ promotion: 3 }, { promotion: 4 }],
  [{ fill: 1 }, { fill: 1, type: 2 }],
];
for (const [taken, refused] of LIMITS) {
  const text = JSON.stringify(
    refused,
    (_, x) => typeof x === "bigint" ? `${x}` : x,
  );
  ccTest(`the mock driver makes no tensor map of ${text}`, () => {
    encoded(driverPath(), taken);
    assertStrictEquals(
      failure(() => encoded(driverPath(), refused)).message,
      "cuTensorMapEncodeTiled: CUDA_ERROR_INVALID_VALUE (1): invalid argument",
    );
  });
}
