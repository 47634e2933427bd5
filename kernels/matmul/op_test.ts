import {
  assert,
  assertEquals,
  assertStrictEquals,
  assertThrows,
} from "@std/assert";
import type { DeviceInfo } from "../../bench/device/device.ts";
import { compare, POISON } from "../../bench/measure/assert_close.ts";
import { decode, encode } from "../../bench/model/dtype.ts";
import { UserError } from "../../bench/model/errors.ts";
import { problemOf } from "../../bench/model/suite.ts";
import { h200, m3max, mi300x } from "../testdata/devices.ts";
import { madeOf } from "../testdata/answers.ts";
import { kernels } from "./mod.ts";
import { tooLarge } from "./point.ts";
import { matmul } from "./op.ts";
import { peers } from "./torch/peers.ts";

const SHAPE = { m: 16, n: 12, k: 256, type: "f32", epilogue: "bias+relu" };
const dense = matmul.point(SHAPE);
const apart = matmul.point({ ...SHAPE, stepc: 2 });

Deno.test("matmul names a column stride in the key where C has one", () => {
  assertStrictEquals(matmul.key(dense).params, "epilogue=bias+relu");
  assertEquals(matmul.point({ ...SHAPE, stepc: 1 }), dense);
  assertStrictEquals(matmul.key(apart).params, "epilogue=bias+relu stepc=2");
  assertStrictEquals(apart.ldc, 24);
  assertEquals(matmul.point({ ...SHAPE, stepc: 2, ldc: 24 }), apart);
});

Deno.test("matmul refuses rows of C that its column stride does not give", () => {
  assertThrows(
    () => matmul.point({ ...SHAPE, stepc: 2, ldc: 13 }),
    UserError,
    "ldc is 13, and with a column stride of 2 rows of C lie n * stepc = 24 apart: leave out ldc",
  );
});

Deno.test("matmul has the same answers with and without a column stride", () => {
  const { right: [want], inputs } = madeOf(matmul, dense);
  const { right: [got] } = madeOf(matmul, apart);
  assertEquals(got, want);
  const [plain, strided] = [dense, apart].map((point) =>
    matmul.reference(point, inputs)
  );
  const indices = [0, 13, 25, 191];
  assertEquals(strided!.at(0, indices), plain!.at(0, indices));
  const norms = plain!.norms!(0, [0, 1, 2, 15], [0, 1, 11]);
  assertEquals(
    strided!.norms!(0, [0, 13, 35, 191], [0]),
    Float64Array.of(norms[0]!, norms[4]!, norms[8]!, norms[11]!),
  );
});

Deno.test("matmul tells a write between two columns of C from a wrong element", () => {
  const { right: [right] } = madeOf(matmul, apart);
  const operand = matmul.operands(apart).find(({ name }) => name === "C")!;
  const bytes = new Uint8Array(2 * right!.length * 4).fill(POISON);
  for (const [i, x] of right!.entries()) {
    bytes.set(encode(Float64Array.of(x), "f32"), 2 * i * 4);
  }
  const tolerance = matmul.tolerance(apart);
  const wrongOf = () =>
    compare({ operand, bytes, right: right! }, tolerance).wrong;
  assertStrictEquals(wrongOf(), undefined);
  bytes[7 * 8 + 4] = 0;
  assertStrictEquals(
    wrongOf(),
    "C: wrote past the end of row 7, into the padding up to ld = 2",
  );
  assertEquals(
    decode(bytes.subarray(56, 60), "f32")[0],
    Math.fround(right![7]!),
  );
});

/** Devices that have all that kernels of their backend need. */
const DEVICES: Readonly<Record<string, Partial<DeviceInfo>>> = {
  cuda: h200,
  hip: mi300x,
  metal: m3max,
  cpu: { units: 4 },
};

Deno.test("a column stride of C is taken by decompose-k, and on a CPU by all but the library", () => {
  const takers = kernels.filter((kernel) =>
    kernel.unsupported(apart, DEVICES[kernel.backend] as DeviceInfo) ===
      undefined
  ).map(({ name, backend }) => `${backend} ${name}`);
  assertEquals(takers, [
    ...["cuda", "hip", "metal"].map((backend) => `${backend} decompose-k`),
    ...["naive", "blocked", "decompose-k"].map((name) => `cpu ${name}`),
  ]);
});

Deno.test("all other kernels and peers refuse a column stride of C in one line", () => {
  const why = "C has a column stride of 2: ";
  for (const kernel of kernels) {
    const info = DEVICES[kernel.backend] as DeviceInfo;
    const reason = kernel.unsupported(apart, info);
    assert(
      reason === undefined || reason === `${why}it writes rows without gaps`,
      `${kernel.name}: ${reason}`,
    );
  }
  for (const peer of peers.peers) {
    assertStrictEquals(
      peers.unsupported!(peer, problemOf(matmul, apart)),
      `${why}peers write rows without gaps`,
    );
  }
});

Deno.test("tooLarge() is of what 31 bits do not number", () => {
  assertEquals(tooLarge({ m: 1, n: 1, k: 2 ** 31 - 1 }), undefined);
  assertEquals(
    tooLarge({ m: 1, n: 1, k: 2 ** 31 }),
    "K = 2147483648: it is numbered in 31 bits",
  );
  assertEquals(
    tooLarge({ m: 2 ** 16, n: 2 ** 15, k: 1 }),
    "M x N = 2147483648: elements of C are numbered in 31 bits",
  );
});
