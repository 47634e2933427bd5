import { assertEquals, assertStrictEquals } from "@std/assert";
import { fileURLToPath } from "node:url";
import { ccTest } from "../../backends/testdata/mocks.ts";
import { inductorSplits, optimizedSplits } from "./splits.ts";

const square = (mn: number, k: number) => ({ m: mn, n: mn, k });

Deno.test("inductorSplits() takes powers of two while slices have 128", () => {
  // 8192 = 2^13: slices of 128 end at 64.
  assertEquals(inductorSplits(square(16, 8192), 10), [2, 4, 8, 16, 32, 64]);
});

Deno.test("inductorSplits() puts slices of a power of two first", () => {
  // 12288 = 3 * 2^12: splits 3 * 2^i leave powers of two, splits 2^i leave 3 * 2^j.
  const all = [3, 6, 12, 24, 48, 96, 2, 4, 8, 16, 32, 64];
  assertEquals(inductorSplits(square(16, 12288), 20), all);
  assertEquals(inductorSplits(square(16, 12288), 10), all.slice(0, 10));
});

Deno.test("inductorSplits() puts multiples of 32 before the rest", () => {
  // 1344 = 2^6 * 3 * 7, at most 1344 / 128 = 10: slices 672, 448, 336, 224, 192 and 168;
  // of these 336 and 168 are no multiples of 32.
  assertEquals(inductorSplits(square(1, 1344), 10), [2, 3, 6, 7, 4, 8]);
});

Deno.test("inductorSplits() is bounded by K / M and K / N", () => {
  assertEquals(inductorSplits({ m: 64, n: 512, k: 4096 }, 10), [2, 4, 8]);
  // 2 is always tried, even where K / N is 1.
  assertEquals(inductorSplits({ m: 64, n: 1024, k: 1024 }, 10), [2]);
});

Deno.test("inductorSplits() is empty for a prime or short K", () => {
  assertEquals(inductorSplits(square(1, 8191), 10), []);
  assertEquals(inductorSplits(square(1, 255), 10), []);
});

Deno.test("optimizedSplits() goes to 256 and to slices of 16", () => {
  const powers = [2, 4, 8, 16, 32, 64, 128, 256];
  assertEquals(optimizedSplits(square(16, 8192)), powers);
  assertEquals(optimizedSplits(square(1, 128)), [2, 4, 8]);
});

Deno.test("optimizedSplits() appends what Inductor adds, once", () => {
  // 20480 = 5 * 2^12, K / M = 320; Inductor's list has 14, 2^i to 128 among them.
  assertEquals(optimizedSplits(square(64, 20480)), [
    ...[2, 4, 8, 16, 32, 64, 128, 256],
    ...[5, 10, 20, 40, 80, 160],
  ]);
});

Deno.test("optimizedSplits() is bounded by K / M and K / N", () => {
  assertEquals(optimizedSplits({ m: 31, n: 65, k: 250 }), [2]);
  assertEquals(optimizedSplits({ m: 100, n: 30, k: 96 }), []);
});

const HEADER = fileURLToPath(new URL("./mutant.h", import.meta.url));
const SOURCE = `#include "${HEADER}"
MUTANT(on) MUTANT(off) 3 - MUTANT(on)
#if MUTANT(on) && !MUTANT(off)
right
#else
wrong
#endif
`;

for (const language of ["c", "c++"]) {
  ccTest(
    `MUTANT() is 1 for a name that the build defines, else 0, in ${language}`,
    async () => {
      const child = new Deno.Command("cc", {
        args: [
          ...["-x", language, "-E", "-P", "-DMUTANT_on=1"],
          ...["-pedantic-errors", "-Wall", "-Werror", "-"],
        ],
        stdin: "piped",
        stdout: "piped",
        stderr: "piped",
      }).spawn();
      const [, { stdout, stderr }] = await Promise.all([
        new Blob([SOURCE]).stream().pipeTo(child.stdin),
        child.output(),
      ]);
      const text = (bytes: Uint8Array) => new TextDecoder().decode(bytes);
      assertStrictEquals(text(stderr), "");
      assertStrictEquals(text(stdout).trim(), "1 0 3 - 1\nright");
    },
  );
}
