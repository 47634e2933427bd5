import { deepStrictEqual, strictEqual, throws } from "node:assert/strict";
import {
  type Arg,
  f32,
  i32,
  i64,
  mem,
  type Memory,
} from "../../../bench/device/queue.ts";
import { pack } from "./module.ts";

function memoryAt(address: bigint): Memory {
  const refuse = () => {
    throw new Error("not for packing");
  };
  return {
    bytes: 8,
    address,
    upload: refuse,
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
