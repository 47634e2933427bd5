import { assertEquals } from "@std/assert";
import { encode } from "../../bench/model/dtype.ts";
import {
  allFormats,
  formatName,
  type QuantFormat,
} from "../../bench/formats/quant_format.ts";
import { dequantise, quantise } from "../../bench/formats/quantise.ts";
import { values } from "../../bench/model/inputs.ts";
import { conversionBuild, dequantiseStep, quantiseStep } from "./dequantise.ts";
import { qmm } from "./op.ts";
import { type QmmPoint, TYPES } from "./point.ts";
import { type BackendName, Bench, built, missing } from "../testdata/cpu.ts";

const ROWS = 512;
const COLS = 384;

/** `ROWS × COLS` weights in `format`. */
function pointOf(format: QuantFormat, type: string): QmmPoint {
  return qmm.point({ ...format, m: 1, n: ROWS, k: COLS, type });
}

/** A code for each weight: every 16-bit code thrice, or normal ones of many sizes. */
function weightCodes(
  type: "f16" | "bf16",
  every: boolean,
): Uint16Array<ArrayBuffer> {
  if (every) {
    return Uint16Array.from({ length: ROWS * COLS }, (_, i) => i % 65536);
  }
  const w = values({ seed: 11, fill: "normal" }, 0, ROWS * COLS)
    .map((x, i) => x * 2 ** (Math.floor(i / 128) % 30 - 15));
  return new Uint16Array(encode(w, type).buffer);
}

/** The values of 16-bit codes. */
function widened(
  codes: Uint16Array<ArrayBuffer>,
  type: "f16" | "bf16",
): Float32Array<ArrayBuffer> {
  if (type === "f16") return new Float32Array(new Float16Array(codes.buffer));
  return new Float32Array(Uint32Array.from(codes, (c) => c << 16).buffer);
}

for (const backend of ["cpu", "cuda"] as const) {
  const where = missing[backend] === ""
    ? `on ${backend}`
    : `on ${backend} (ignored: ${missing[backend]})`;
  const options = { ignore: missing[backend] !== "" };

  Deno.test(
    `quantiseStep() gives the host's bits for every weight ${where}`,
    options,
    async (t) => {
      using bench = new Bench(qmm, backend);
      for (const format of allFormats()) {
        await t.step(
          formatName(format),
          () => quantises(format, backend, bench),
        );
      }
    },
  );

  Deno.test(
    `dequantiseStep() gives the host's bits for every scale ${where}`,
    options,
    async (t) => {
      using bench = new Bench(qmm, backend);
      for (const format of allFormats()) {
        await t.step(
          formatName(format),
          () => dequantises(format, backend, bench),
        );
      }
    },
  );
}

async function quantises(
  format: QuantFormat,
  backend: BackendName,
  bench: Bench<QmmPoint>,
) {
  for (const type of TYPES) {
    const point = pointOf(format, type);
    await built(conversionBuild(backend, point), backend);
    const operands = bench.operands({ point });
    const dense = bench.alloc(2 * ROWS * COLS);
    const program = bench.program;
    const step = quantiseStep(backend, { point, operands, dense, program });
    for (const every of [true, false]) {
      const codes = weightCodes(type, every);
      dense.upload(new Uint8Array(codes.buffer));
      for (const x of ["w", "scales", "biases"]) operands[x]?.fill(0xaa);
      step.enqueue();
      bench.device.synchronize();
      const want = quantise(widened(codes, type), format, type);
      assertEquals(firstDifference(operands.w!.download(), want.packed), -1);
      assertEquals(
        firstDifference(operands.scales!.download(), want.scales),
        -1,
      );
      if (!want.biases) continue;
      assertEquals(
        firstDifference(operands.biases!.download(), want.biases),
        -1,
      );
    }
  }
}

async function dequantises(
  format: QuantFormat,
  backend: BackendName,
  bench: Bench<QmmPoint>,
) {
  for (const type of TYPES) {
    const point = pointOf(format, type);
    await built(conversionBuild(backend, point), backend);
    const operands = bench.operands({ point });
    // Any byte is a code. Every byte is a scale; 16-bit ones are of every exponent.
    const [w, scales, biases] = [
      operands.w!,
      operands.scales!,
      operands.biases,
    ];
    w.upload(bytes(w.bytes, 40503));
    scales.upload(bytes(scales.bytes, format.mode === "affine" ? 25717 : 1));
    biases?.upload(bytes(biases.bytes, 30011));
    const dense = bench.alloc(2 * ROWS * COLS);
    const program = bench.program;
    dequantiseStep(backend, { point, operands, dense, program }).enqueue();
    bench.device.synchronize();
    const stored = { packed: w.download(), scales: scales.download() };
    const want = dequantise(
      biases ? { ...stored, biases: biases.download() } : stored,
      format,
      { type, count: ROWS * COLS },
    );
    assertEquals(firstDifference(dense.download(), encode(want, type)), -1);
  }
}

/** `count` bytes in which every value comes, at every phase of an odd step. */
function bytes(count: number, step: number): Uint8Array<ArrayBuffer> {
  return Uint8Array.from({ length: count }, (_, i) => i * step + (i >> 8));
}

/** The first byte of `wanted` that `got` differs in; -1 where there is none. */
function firstDifference(got: Uint8Array, wanted: Uint8Array): number {
  assertEquals(got.length, wanted.length);
  return got.findIndex((byte, i) => byte !== wanted[i]);
}

Deno.test("conversionBuild() compiles for CUDA by mode, width and type", () => {
  const point = qmm.point({ m: 1, n: 8, k: 32, mode: "mxfp8", type: "f16" });
  assertEquals(conversionBuild("cuda", point).defines, {
    TYPE: "f16",
    MODE: "MXFP8",
    BITS: 8,
  });
});
