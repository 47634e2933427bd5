import { deepStrictEqual, strictEqual } from "node:assert/strict";
import { launchConfig, needsConfig } from "./launch_config.ts";

const SHAPE = { grid: [8, 2, 3], block: [128, 1, 1] } as const;

Deno.test("needsConfig() is for clusters and overlapping launches", () => {
  strictEqual(needsConfig(SHAPE), false);
  strictEqual(needsConfig({ ...SHAPE, cluster: 1 }), false);
  strictEqual(needsConfig({ ...SHAPE, cluster: 4 }), true);
  strictEqual(needsConfig({ ...SHAPE, overlap: true }), true);
});

Deno.test("launchConfig() lays out CUlaunchConfig and its attributes", () => {
  const shape = { ...SHAPE, sharedBytes: 1024, cluster: 4, overlap: true };
  const { bytes, attributes } = launchConfig(shape, 0x55n);
  const words = [...new Uint32Array(bytes)];
  deepStrictEqual(words.slice(0, 10), [8, 2, 3, 128, 1, 1, 1024, 0, 0x55, 0]);
  const view = new DataView(bytes);
  const pointer = Deno.UnsafePointer.of(new Uint8Array(attributes));
  strictEqual(view.getBigUint64(40, true), Deno.UnsafePointer.value(pointer));
  deepStrictEqual([words[12], words.length], [2, 14]);
  const expected = new Array(36).fill(0);
  expected.splice(0, 5, 4, 0, 4, 1, 1);
  expected.splice(18, 3, 6, 0, 1);
  deepStrictEqual([...new Uint32Array(attributes)], expected);
});
