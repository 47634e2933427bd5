import { deepStrictEqual, ok, strictEqual } from "node:assert/strict";
import { i32, i64, mem } from "../../bench/device/queue.ts";
import { cudaTest, emulatedCuda } from "../testdata/cuda_mocks.ts";
import { scratch } from "../testdata/mocks.ts";
import { cuda } from "./cuda.ts";

/** The word that a reader stores where its words, folded, are this one. */
const FOUND = 0x9e3779b9;

cudaTest("every reader reads all bytes, in any grid", async (device) => {
  const backend = emulatedCuda();
  const binary = scratch("readers.cubin");
  const build = { source: backend.instruments, defines: {} };
  await backend.compiler("sm_90a").compile(build, binary);
  using module = device.load(binary);
  using memory = device.alloc(300_000);
  using sink = device.alloc(4);
  for (const reader of backend.readers!("sm_90a")) {
    const { entry, threads, sharedBytes = 0, parameters = [] } = reader;
    const program = module.program(entry);
    const found = (at: number, bytes: number, grid: number) => {
      memory.fill(0);
      sink.fill(0);
      const word = new Uint8Array(new Uint32Array([FOUND]).buffer);
      memory.slice(at, 4).upload(word);
      const args = [mem(memory), i64(bytes), mem(sink)];
      program.step([...args, ...parameters.map(i32)], {
        grid: [grid, 1, 1],
        block: [threads, 1, 1],
        sharedBytes,
      }).enqueue();
      device.synchronize();
      return new Uint32Array(sink.download().buffer)[0] === FOUND;
    };
    // Of a bulk copy the first word stands for all of its bytes.
    const [unit = 4] = parameters;
    for (const at of [0, unit, 65536, 262144]) {
      for (const grid of [1, 3]) {
        ok(found(at, 300_000, grid), `${entry} ${grid} ${at}`);
      }
    }
    strictEqual(found(299_996, 299_996, 3), false, `${entry} reads beyond`);
  }
});

Deno.test("cuda.readers() leaves out what an older GPU has not", () => {
  const entries = (arch: string) =>
    cuda({ driver: [] }).readers!(arch).map(({ entry }) => entry);
  ok(entries("sm_90a").includes("load_bulk"));
  deepStrictEqual(
    [...new Set(entries("sm_89"))],
    ["load_2", "load_4", "load_async"],
  );
  deepStrictEqual([...new Set(entries("sm_75"))], ["load_2", "load_4"]);
});
