import { assertEquals } from "@std/assert";
import type { Option } from "../../../bench/tune/dispatch.ts";
import { dispatchLines } from "./dispatch_table.ts";

Deno.test("dispatchLines() says what a range loses, and where it loses most to what", () => {
  const [dot, tile]: Option[] = [
    { kernel: "dot", config: "" },
    { kernel: "tile", config: "BM=16" },
  ];
  const range = { option: tile!, from: 1, to: 16 };
  const points = [
    { at: 1, us: 10, best: dot!, best_us: 6 },
    { at: 4, us: 10, best: dot!, best_us: 9 },
    { at: 16, us: 10, best: tile!, best_us: 10 },
  ];
  const quiet = { ...range, from: 17, to: 64, loss: 0, worst: 0 };
  assertEquals(
    dispatchLines([{
      op: "matmul",
      axis: "m",
      axes: { n: null, k: "64" },
      ranges: [
        { ...range, points, loss: 0.2283, worst: 2 / 3 },
        { ...quiet, points: points.slice(2) },
      ],
    }]),
    [
      "matmul k=64",
      "  m = 1 to 16   tile BM=16  10.00 us at 16  loses 22.8 %, at worst 66.7 % at m = 1, to dot",
      "  m = 17 to 64  tile BM=16  10.00 us at 16  loses 0.0 %",
    ],
  );
});
