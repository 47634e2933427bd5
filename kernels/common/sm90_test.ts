import { assertEquals } from "@std/assert";
import { h200 } from "../testdata/devices.ts";
import { clustersAtOnce } from "./sm90.ts";

Deno.test("clustersAtOnce() is what the driver said, else the units in clusters", () => {
  assertEquals(
    [1, 2, 3, 4, 8, 16].map((size) => clustersAtOnce(h200, size)),
    [132, 66, 39, 30, 15, 7],
  );
  const { clusters: _, ...unasked } = h200;
  const of = (size: number, units = 132) =>
    clustersAtOnce({ ...unasked, units }, size);
  assertEquals([of(1), of(3), of(8), of(16), of(16, 8)], [132, 44, 16, 8, 1]);
  // A part with 78 units, whose driver says that no cluster of 16 fits.
  const small = [78, 39, 24, 18, 13, 12, 9, 9, ...Array(8).fill(0)];
  const part = { units: 78, clusters: small };
  assertEquals([8, 16].map((size) => clustersAtOnce(part, size)), [9, 1]);
});
