import { assertEquals } from "@std/assert";
import { writeAll } from "./write_all.ts";

Deno.test("writeAll() goes on with what one call did not take", () => {
  const taken: number[][] = [];
  const most = 2;
  const slow = {
    writeSync(bytes: Uint8Array) {
      taken.push([...bytes.subarray(0, most)]);
      return Math.min(most, bytes.length);
    },
  };
  writeAll(slow, new Uint8Array());
  assertEquals(taken, []);
  writeAll(slow, Uint8Array.of(1, 2, 3, 4, 5));
  assertEquals(taken, [[1, 2], [3, 4], [5]]);
});
