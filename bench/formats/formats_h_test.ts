import { assertEquals } from "@std/assert";
import { cpuBackend } from "../../backends/cpu/cpu.ts";
import type { Device } from "../device/device.ts";
import { i32, mem } from "../device/queue.ts";
import { CaseError } from "../model/errors.ts";
import { blockedOffset } from "./blocked_scales.ts";
import { e2m1, e4m3, E8M0_VALUES, encodeE8m0 } from "./minifloat.ts";

const backend = cpuBackend();
const info = backend.find().devices[0]!;
const compiler = (() => {
  try {
    return backend.compiler(info.arch);
  } catch (error) {
    if (error instanceof CaseError) return undefined;
    throw error;
  }
})();
const options = { ignore: compiler === undefined };
const skip = compiler ? "" : " (ignored: no C compiler)";

/** testdata/formats.c, compiled once and gone when the tests of this file are over. */
const binary = Deno.makeTempFileSync({ suffix: ".so" });
let compiled: Promise<unknown> | undefined;
Deno.test.afterAll(() => Deno.removeSync(binary));

/** Calls `entry` of testdata/formats.c with memory of `bytes`, and gives that memory. */
async function call(
  entry: string,
  { bytes, input, numbers }: {
    bytes: number;
    input?: Float32Array<ArrayBuffer>;
    numbers: readonly number[];
  },
): Promise<Uint8Array<ArrayBuffer>> {
  const source = new URL("./testdata/formats.c", import.meta.url);
  compiled ??= compiler!.compile({ source, defines: {} }, binary);
  await compiled;
  using scope = new DisposableStack();
  const device: Device = scope.use(backend.open(info));
  const output = scope.use(device.alloc(bytes));
  const inputs = input === undefined ? [] : [input].map((x) => {
    const memory = scope.use(device.alloc(x.byteLength));
    memory.upload(new Uint8Array(x.buffer));
    return memory;
  });
  scope.use(device.load(binary)).program(entry).step(
    [...inputs.map(mem), mem(output), ...numbers.map(i32)],
    { grid: [1, 1, 1], block: [1, 1, 1] },
  ).enqueue();
  return output.download();
}

/** Every bf16, and fp32 numbers on both sides of it: signs, subnormals, NaN and all. */
function everywhere(): Float32Array<ArrayBuffer> {
  const bits = new Uint32Array(3 << 16);
  for (let i = 0; i < 1 << 16; i++) {
    bits[3 * i] = i << 16;
    bits[3 * i + 1] = (i << 16) + 1;
    bits[3 * i + 2] = (i << 16) - 1;
  }
  return new Float32Array(bits.buffer);
}

/** Where E8M0 turns: beside √2 times each power of two, subnormal ones included. */
function aroundRoots(): Float32Array<ArrayBuffer> {
  const x = Float32Array.from({ length: 280 }, (_, i) => 2 ** (i - 149.5));
  const bits = new Uint32Array(x.buffer);
  return new Float32Array(
    [...bits].flatMap((b) =>
      [b - 1, b, b + 1].map((c) =>
        new Float32Array(Uint32Array.of(c).buffer)[0]!
      )
    ),
  );
}

const ENCODERS = [e2m1.encode, e4m3.encode, encodeE8m0];
const NAMES = ["encode_e2m1", "encode_e4m3", "encode_e8m0"];

for (const [which, encode] of ENCODERS.entries()) {
  Deno.test({
    name: `formats.h ${
      NAMES[which]
    } is that of TypeScript at every exponent${skip}`,
    ...options,
    async fn() {
      const input = new Float32Array([...everywhere(), ...aroundRoots()]);
      const got = await call("encode_all", {
        bytes: input.length,
        input,
        numbers: [input.length, which],
      });
      input.forEach((x, i) => {
        const want = encode(x);
        if (got[i] !== want) assertEquals(got[i], want, `${x}`);
      });
    },
  });
}

for (
  const [which, values] of [e2m1.values, e4m3.values, E8M0_VALUES].entries()
) {
  Deno.test({
    name: `formats.h decodes every code of ${
      ["E2M1", "E4M3", "E8M0"][which]
    }${skip}`,
    ...options,
    async fn() {
      const bytes = await call("decode_all", {
        bytes: 4 * values.length,
        numbers: [which],
      });
      assertEquals([...new Float32Array(bytes.buffer)], [...values]);
    },
  });
}

Deno.test({
  name: `formats.h blocked_offset is that of TypeScript${skip}`,
  ...options,
  async fn() {
    const [rows, cols] = [300, 11];
    const bytes = await call("blocked_offsets", {
      bytes: 8 * rows * cols,
      numbers: [rows, cols],
    });
    assertEquals(
      [...new BigInt64Array(bytes.buffer)].map(Number),
      Array.from(
        { length: rows * cols },
        (_, i) => blockedOffset(Math.floor(i / cols), i % cols, cols),
      ),
    );
  },
});
