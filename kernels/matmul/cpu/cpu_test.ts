import { assert, assertEquals } from "@std/assert";
import { cpuBackend } from "../../../backends/cpu/cpu.ts";
import { i32, mem } from "../../../bench/device/queue.ts";
import { decode, encode } from "../../../bench/model/dtype.ts";
import { CaseError } from "../../../bench/model/errors.ts";
import { cpuKernels, decomposeK, type InstructionSet, SETS } from "./cpu.ts";
import { Bench, built, hasCompiler, info, skip } from "../../testdata/cpu.ts";
import { cases } from "../testdata/cases.ts";
import { matmul } from "../op.ts";

/** Every value of f16, and beside and between each and the next: where rounding turns. */
function roundingCases(): Float32Array<ArrayBuffer> {
  const codes = Uint16Array.from({ length: 65536 }, (_, i) => i);
  const exact = decode(new Uint8Array(codes.buffer), "f16");
  const bf16 = decode(new Uint8Array(codes.buffer), "bf16");
  return Float32Array.from(
    [...exact, ...bf16].filter(Number.isFinite).flatMap((x, i, all) => {
      const middle = (x + (all[i + 1] ?? x)) / 2;
      return [x, middle, middle * (1 + 2 ** -20), middle * (1 - 2 ** -20)];
    }),
  );
}

for (const set of Object.keys(SETS) as InstructionSet[]) {
  if (set === "best") continue;
  Deno.test(`decomposeK is right with ${set}${skip}`, {
    ignore: !hasCompiler,
  }, async (t) => {
    using bench = new Bench(matmul);
    const point = cases.larger![0]!;
    const kernel = decomposeK(set);
    const binary = await built(kernel.builds(point, {})[0]!);
    using has = bench.device.alloc(8);
    using module = bench.device.load(binary);
    module.program("decompose_k_sets").step([mem(has)], {
      grid: [1, 1, 1],
      block: [1, 1, 1],
    }).enqueue();
    await t.step({
      name: has.host![SETS[set] - 1] === 1
        ? "at edge-case shapes"
        : "at edge-case shapes (ignored: this CPU lacks it)",
      ignore: has.host![SETS[set] - 1] !== 1,
      async fn() {
        for (const point of [...matmul.edgeCases, ...cases.larger!]) {
          // Its units are pairs of bf16.
          if (set === "avx512_bf16" && point.type !== "bf16") continue;
          if (kernel.unsupported(point, info)) continue;
          for (const DEPTH of [128, 512]) {
            const config = { DEPTH };
            await bench.assertRight(kernel, { point, config });
          }
        }
      },
    });
  });
}

Deno.test(`decomposeK gives the same bits twice${skip}`, {
  ignore: !hasCompiler,
}, async () => {
  using bench = new Bench(matmul);
  const [point, config] = [cases.larger![0]!, { DEPTH: 256 }];
  const kernel = decomposeK("best");
  assertEquals(
    await bench.run(kernel, { point, config }),
    await bench.run(kernel, { point, config }),
  );
});

Deno.test("decomposeK says why a block is too deep", () => {
  const point = matmul.point({ m: 16, n: 16, k: 256 });
  const candidates = [
    ...decomposeK("best").candidates(point, { ...info, units: 2 }),
  ];
  assertEquals(candidates.map(({ illegal }) => illegal), [
    "a block of 512 is deeper than a slice of 128",
    "a block of 256 is deeper than a slice of 128",
    undefined,
  ]);
});

Deno.test("openblas is unsupported without the library, and says what was tried", () => {
  const none = cpuBackend({ libraries: ["libnosuchblas.so"] });
  using device = none.open(info);
  assertEquals(device.blas, undefined);
  const memory = device.alloc(4 * 16 * 16);
  const [A, B, C] = [memory, memory, memory];
  let failure: unknown;
  try {
    cpuKernels.find(({ name }) => name === "openblas")!.prepare({
      point: matmul.point({ m: 16, n: 16, k: 16, type: "f32" }),
      config: {},
      device,
      operands: { A, B, C },
      program: () => {
        throw new Error("nothing to build");
      },
      alloc: (bytes) => device.alloc(bytes),
    });
  } catch (error) {
    failure = error;
  }
  assert(failure instanceof CaseError && failure.failure === "unsupported");
  assert(/tried libnosuchblas\.so/.test(failure.message), failure.message);
});

Deno.test(
  `element.h converts every 16-bit code as bench/model/dtype.ts does${skip}`,
  {
    ignore: !hasCompiler,
  },
  async () => {
    using bench = new Bench(matmul);
    const source = new URL("./plain.c", import.meta.url);
    using module = bench.device.load(
      await built({ source, defines: {} }),
    );
    const values = roundingCases();
    using sums = bench.device.alloc(4 * values.length);
    using c = bench.device.alloc(2 * values.length);
    sums.upload(new Uint8Array(values.buffer));
    for (const [type, number] of [["f16", 1], ["bf16", 2]] as const) {
      const n = values.length;
      module.program("epilogue").step([
        mem(sums),
        mem(c),
        mem(c),
        ...[1, n, n, n, number, 0, 0].map(i32),
      ], { grid: [1, 1, 1], block: [1, 1, 1] }).enqueue();
      const want = new Uint16Array(encode(values, type).buffer);
      const got = new Uint16Array(c.download().buffer);
      for (let i = 0; i < n; i++) {
        if (Number.isNaN(values[i]!)) continue;
        assertEquals(got[i], want[i], `${values[i]} as ${type}`);
      }
    }
  },
);
