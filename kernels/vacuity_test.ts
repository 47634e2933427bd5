import { deepEqual, ok } from "node:assert/strict";
import { decode, encode } from "../bench/model/dtype.ts";
import type { Values } from "../bench/model/grid.ts";
import type { Op } from "../bench/model/op.ts";
import { groupedMatmul } from "./grouped/op.ts";
import { matmul } from "./matmul/op.ts";
import { EPILOGUES, TYPES } from "./matmul/point.ts";
import { qmm } from "./qmm/op.ts";

/** Points of `op` besides its odd ones: as large as those that suites have. */
interface Entry {
  readonly title: string;
  readonly points: readonly {
    readonly title: string;
    /** Mutants that the tolerance let pass; and `right`, if the right answer did not. */
    slips(): readonly string[];
  }[];
}

/** `op` at its edge-case shapes and at `shapes`, its type forgotten. */
function entry<P>(op: Op<P>, shapes: readonly Values[]): Entry {
  const points = [...op.edgeCases, ...shapes.map((shape) => op.point(shape))];
  return {
    title: op.name,
    points: points.map((point) => {
      const { a_type, layout, m, n, k, params } = op.key(point);
      return {
        title: `${a_type} ${layout} ${m}x${n}x${k} ${params}`,
        slips: () => slipsOf(op, point),
      };
    }),
  };
}

function slipsOf<P>(op: Op<P>, point: P): string[] {
  const inputs = op.inputs(point, { seed: 0, fill: "normal" });
  const right = op.reference(point, inputs);
  const types = op.operands(point).filter(({ role }) => role === "out").map((
    { type },
  ) => type);
  const { rtol, atol } = op.tolerance(point);
  const passes = (outputs: readonly Float64Array<ArrayBuffer>[]) =>
    outputs.every((output, i) => {
      const type = types[i]!;
      const want = right.all(i);
      return decode(encode(output, type), type).every((x, at) =>
        Math.abs(x - want[at]!) <= atol + rtol * Math.abs(want[at]!)
      );
    });
  const mutants = op.mutants(point, inputs, right);
  ok(mutants.length > 0, "no mutants");
  return [
    ...passes(types.map((_, i) => right.all(i))) ? [] : ["right"],
    ...mutants.filter(({ outputs }) => passes(outputs)).map(({ name }) => name),
  ];
}

const SUITE_SHAPES = TYPES.flatMap((type) =>
  EPILOGUES.flatMap((epilogue) => [
    { m: 64, n: 64, k: 8192, type, epilogue },
    { m: 16, n: 16, k: 32768, type, epilogue },
  ])
);

/** As long as those of the suites, and narrow: mutants decode all weights again. */
const QMM_SHAPES = ["affine", "mxfp4", "mxfp8", "nvfp4"].map((mode) => ({
  m: 4,
  n: 64,
  k: 8192,
  mode,
}));

/** Every operation stands here, by its folder. */
const ENTRIES: Readonly<Record<string, Entry>> = {
  // Its edge-case shapes are lists of the competition, as large as they come.
  grouped: entry(groupedMatmul, []),
  matmul: entry(matmul, SUITE_SHAPES),
  qmm: entry(qmm, QMM_SHAPES),
};

for (const { title, points } of Object.values(ENTRIES)) {
  for (const point of points) {
    Deno.test(`mutants of ${title} fail at ${point.title}`, () =>
      deepEqual(point.slips(), []));
  }
}

Deno.test("ENTRIES has every operation", async () => {
  const folders: string[] = [];
  const here = new URL(".", import.meta.url);
  for await (const { name, isDirectory } of Deno.readDir(here)) {
    if (!isDirectory) continue;
    // Others hold what kernels of several operations share.
    const files = [...Deno.readDirSync(new URL(`${name}/`, here))];
    if (files.some((file) => file.name === "op.ts")) folders.push(name);
  }
  deepEqual(Object.keys(ENTRIES).sort(), folders.sort());
});
