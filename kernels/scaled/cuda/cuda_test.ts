import { assert, assertEquals, assertStrictEquals } from "@std/assert";
import { blocksPerUnit } from "../../../bench/model/occupancy.ts";
import { h200 } from "../../testdata/devices.ts";
import { listen } from "../../testdata/listener.ts";
import { scaledMatmul } from "../op.ts";
import { SCALES } from "../point.ts";
import { wgmma } from "./cuda.ts";

Deno.test("wgmma has legal configs, of which as many blocks fit on a multiprocessor as they say", () => {
  const shapes = [
    ...[{ m: 1, n: 1, k: 16 }, { m: 17, n: 33, k: 144 }],
    ...[{ m: 128, n: 64, k: 65536 }, { m: 2048, n: 7168, k: 18432 }],
  ];
  for (const shape of shapes) {
    for (const scale of SCALES) {
      const values = { ...shape, scale };
      const configs = [
        ...wgmma.candidates(scaledMatmul.point(values), h200),
      ].filter(({ illegal }) => !illegal).map(({ config }) => config);
      const which = `${shape.m}x${shape.n}x${shape.k} ${scale}`;
      assert(configs.length > 0, which);
      for (const config of configs) {
        const { queue: [launch] } = listen(scaledMatmul, wgmma, {
          ...{ values, config },
        });
        const { block, sharedBytes = 0 } = launch!.shape!;
        const threads = block[0];
        assert(
          blocksPerUnit({ threads, sharedBytes }, h200) >=
            Number(config.RESIDENT),
          `${which} ${JSON.stringify(config)}`,
        );
      }
    }
  }
});

Deno.test("prepare() of wgmma gives maps of both operands, and slices of whole steps", () => {
  const config = {
    ...{ BM: 64, BN: 80, BK: 128, WARPS: 4, CLUSTER: 3 },
    ...{ RESIDENT: 2, AHEAD: 0 },
  };
  const values = { m: 150, n: 330, k: 2000, scale: "block128" };
  const { queue: [launch], maps } = listen(scaledMatmul, wgmma, {
    ...{ values, config },
  });
  assertEquals(launch!.shape!.grid, [3, 2, 6]);
  assertStrictEquals(launch!.shape!.cluster, 3);
  assertEquals(launch!.shape!.block, [160, 1, 1]);
  const box = { type: "e4m3", columns: 2000, ld: 2000, boxColumns: 128 };
  assertEquals(maps, [
    { ...box, rows: 330, boxRows: 64 },
    { ...box, rows: 150, boxRows: 80 },
  ]);
  // Six steps, of which five have room beside a sum of each output and a scale for each 128 of K.
  assertEquals(launch!.args.at(-1), { kind: "i32", value: 768 });
  assertStrictEquals(
    launch!.shape!.sharedBytes,
    5 * (144 * 128 + 16) + 6 * 80 * 4 + 3 * 427 * 16 + 16,
  );
  assertStrictEquals(launch!.build!.defines.STAGES, 5);
});
