import { assert, assertEquals } from "@std/assert";
import { mem } from "../../../bench/device/queue.ts";
import { decode, encode } from "../../../bench/model/dtype.ts";
import {
  allFormats,
  type QuantFormat,
} from "../../../bench/formats/quant_format.ts";
import { dequantise } from "../../../bench/formats/quantise.ts";
import { cpuQmm, type InstructionSet, SETS } from "./cpu.ts";
import { qmm } from "../op.ts";
import { madeOf, unrounded } from "../../testdata/answers.ts";
import { Bench, built, hasCompiler, info, skip } from "../../testdata/cpu.ts";
import { title as titleOf } from "../../testdata/cases.ts";
import type { QmmPoint } from "../point.ts";
import { cases } from "../testdata/cases.ts";

const LARGER = cases.larger!;
const POINTS = [...qmm.edgeCases, ...LARGER];
const cpuReference = qmm.referenceKernels!.find(({ backend }) =>
  backend === "cpu"
)!;
const title = (point: QmmPoint) => titleOf(qmm, point);

for (const set of Object.keys(SETS) as InstructionSet[]) {
  if (set === "best") continue;
  Deno.test(`cpuQmm is right with ${set} in every format${skip}`, {
    ignore: !hasCompiler,
  }, async (t) => {
    using bench = new Bench(qmm);
    const kernel = cpuQmm(set);
    await built(kernel.builds(LARGER[0]!, {})[0]!);
    const has = bench.alloc(8);
    bench.program(kernel.builds(LARGER[0]!, {})[0]!, "qmm_sets")
      .step([mem(has)], { grid: [1, 1, 1], block: [1, 1, 1] }).enqueue();
    const able = has.host![SETS[set] - 1] === 1;
    await t.step({
      name: able ? "here" : "here (ignored: this CPU lacks it)",
      ignore: !able,
      async fn() {
        const formats = allFormats().flatMap((format) =>
          ["nt", "nn"].map((layout) =>
            qmm.point({ ...format, m: 7, n: 256, k: 256, layout })
          )
        );
        for (const point of [...POINTS, ...formats]) {
          await bench.assertRight(kernel, { point, config: { ROWS: 16 } });
        }
        for (const format of allFormats()) decodesAll(bench, { set, format });
      },
    });
  });
}

/** Fails unless x = 1 gives every weight exactly, whatever its code. */
function decodesAll(
  bench: Bench<QmmPoint>,
  { set, format }: { set: InstructionSet; format: QuantFormat },
): void {
  const [n, k, type] = [64, 128, "f16"] as const;
  const point = qmm.point({ ...format, m: k, n, k, type });
  const operands = bench.operands({ point });
  const one = Float64Array.from(
    { length: k * k },
    (_, i) => +(i % (k + 1) === 0),
  );
  operands.x!.upload(encode(one, type));
  operands.w!.host!.forEach((_, i, w) => {
    const byte = i * 151 & 255;
    // NaN times 0 is NaN, in every sum.
    w[i] = format.mode === "mxfp8" && (byte & 0x7f) === 0x7f ? 0 : byte;
  });
  const kernel = cpuQmm(set);
  const program = bench.program;
  const alloc = (size: number) => bench.alloc(size);
  const { device } = bench;
  const config = { ROWS: 16 };
  kernel.prepare({ point, config, device, operands, program, alloc }).steps
    .forEach((step) => step.enqueue());
  const { w, scales, biases } = operands;
  const stored = { packed: w!.download(), scales: scales!.download() };
  const want = dequantise(
    biases ? { ...stored, biases: biases.download() } : stored,
    point,
    { type, count: n * k },
  );
  const y = decode(operands.y!.download(), type);
  const right = decode(encode(want, type), type);
  right.forEach((x, i) => {
    const [row, col] = [Math.floor(i / k), i % k];
    assert(
      y[col * n + row] === x,
      `${set} ${title(point)}: ${y[col * n + row]}, ${x}`,
    );
  });
}

Deno.test(`cpuQmm gives the same bits twice, whatever the block${skip}`, {
  ignore: !hasCompiler,
}, async () => {
  using bench = new Bench(qmm);
  const run = (ROWS: number) =>
    bench.run(cpuQmm("best"), { point: LARGER[0]!, config: { ROWS } });
  assertEquals(await run(4), await run(64));
});

Deno.test("cpuQmm has one config where blocks of rows have no meaning", () => {
  const point = qmm.point({ m: 2, n: 64, k: 3, layout: "nn" });
  const candidates = [...cpuQmm("best").candidates(point, info)];
  assertEquals(candidates.map(({ illegal }) => illegal === undefined), [
    true,
    false,
    false,
  ]);
});

Deno.test(`cpuQmm gives NaN for a NaN scale, 0 for none${skip}`, {
  ignore: !hasCompiler,
}, async () => {
  using bench = new Bench(qmm);
  for (const kernel of [cpuQmm("best"), cpuQmm("generic")]) {
    for (const mode of ["mxfp4", "mxfp8", "nvfp4"]) {
      const point = qmm.point({ m: 1, n: 4, k: 64, mode });
      const operands = bench.operands({ point });
      // Row 0: NaN; row 1: the least scale; the others as they were.
      const groups = 64 / point.group;
      operands.scales!.host!.fill(mode === "nvfp4" ? 0x7f : 0xff, 0, groups);
      operands.scales!.host!.fill(0, groups, 2 * groups);
      await Promise.all(kernel.builds(point, {}).map((b) => built(b)));
      const plan = kernel.prepare({
        point,
        config: { ROWS: 4 },
        device: bench.device,
        operands,
        program: bench.program,
        alloc: (size) => bench.alloc(size),
      });
      for (const step of plan.steps) step.enqueue();
      const y = decode(operands.y!.download(), point.type);
      assert(Number.isNaN(y[0]), mode);
      assert(Math.abs(y[1]!) < 1e-30, mode);
      assert(Math.abs(y[2]!) > 1e-30 && Number.isFinite(y[3]), mode);
    }
  }
});

Deno.test(`cpuReference reads one row of every format${skip}`, {
  ignore: !hasCompiler,
}, async () => {
  using bench = new Bench(unrounded(qmm));
  for (const format of allFormats()) {
    const point = qmm.point({ ...format, m: 1, n: 1, k: 128 });
    const [y] = await bench.run(cpuReference, { point });
    const { right: [right] } = madeOf(qmm, point);
    assert(Math.abs(decode(y!, "f64")[0]! - right![0]!) < 1e-12, title(point));
  }
});
