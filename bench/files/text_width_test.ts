import { assertEquals } from "@std/assert";
import { aligned, padded, shortened, widthOf } from "./text_width.ts";

Deno.test("widthOf() counts columns, not characters", () => {
  assertEquals(["", "16×16", "naïve", "核心", "µs"].map(widthOf), [
    0,
    5,
    5,
    4,
    2,
  ]);
});

Deno.test("padded() never cuts", () => {
  assertEquals(padded("核心", 3), "核心");
  assertEquals(padded("核", 4, "right"), "  核");
});

Deno.test("shortened() leaves room for the ellipsis, also beside a wide character", () => {
  assertEquals(shortened("bench 3/12", 11), "bench 3/12");
  assertEquals(shortened("bench 3/12", 10), "bench 3/…");
  assertEquals(shortened("核心核心", 6), "核心…");
  assertEquals(shortened("核心核心", 5), "核…");
  assertEquals(shortened("ab", 1), "…");
});

Deno.test("aligned() keeps columns in line where text is wide", () => {
  assertEquals(
    aligned([["核", "1", "a"], ["naive", "22", ""]], new Set([1])),
    ["核      1  a", "naive  22"],
  );
});
