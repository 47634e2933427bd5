import { assert, assertEquals, assertStrictEquals } from "@std/assert";
import { paletteOf } from "./palette.ts";
import { inkOf, inkOn, mixed, THEMES } from "./theme.ts";

Deno.test("paletteOf() gives no two kernels of a picture one colour", () => {
  for (const theme of ["light", "dark"] as const) {
    for (const count of [2, 7, 12, 13, 40]) {
      const kernels = Array.from({ length: count }, (_, i) => `kernel-${i}`);
      const looks = paletteOf([...kernels, "cublas"], theme);
      const colors = [...looks.values()].map(({ color }) => color);
      assertStrictEquals(looks.size, count + 1);
      assertStrictEquals(new Set(colors).size, count + 1, `${count} ${theme}`);
    }
  }
});

Deno.test("paletteOf() draws a kernel the same whatever else is there", () => {
  const alone = paletteOf(["decompose-k"], "light").get("decompose-k");
  const all = paletteOf(["x", "cublas", "decompose-k", "y", "z"], "light");
  assertEquals(all.get("decompose-k"), alone);
});

Deno.test("paletteOf() does not depend on the order of kernels", () => {
  const names = ["b", "mine", "torch.mm", "a", "cublas", "torch.mm+relu"];
  const looks = paletteOf(names, "light");
  const reversed = paletteOf(names.toReversed(), "light");
  for (const name of names) {
    assertEquals(looks.get(name), reversed.get(name), name);
  }
});

Deno.test("paletteOf() takes a name that every object has for a kernel's", () => {
  assertStrictEquals(paletteOf(["constructor", "toString"], "light").size, 2);
});

Deno.test("paletteOf() gives others no colour of a known kernel, there or not", () => {
  const known = ["cublas", "cublaslt", "bmm-sum", "decompose-k-tile"];
  known.push("decompose-k-tile-unfused", "decompose-k", "decompose-k-unfused");
  known.push("naive", "openblas");
  for (const theme of ["light", "dark"] as const) {
    const fixed = new Set(
      [...paletteOf(known, theme).values()].map(({ color }) => color),
    );
    assertStrictEquals(fixed.size, known.length);
    const others = Array.from({ length: 40 }, (_, i) => `mine-${i}`);
    for (const count of [1, 5, 40]) {
      const looks = paletteOf(others.slice(0, count), theme);
      for (const [name, { color }] of looks) assert(!fixed.has(color), name);
    }
  }
});

Deno.test("paletteOf() gives the first five others marks that no known kernel has", () => {
  const known = ["cublas", "cublaslt", "bmm-sum", "decompose-k-tile"];
  known.push("decompose-k-tile-unfused", "decompose-k");
  const looks = paletteOf([...known, "a", "b", "c", "d", "e"], "light");
  assertStrictEquals(
    new Set([...looks.values()].map(({ mark }) => mark)).size,
    11,
  );
});

Deno.test("inkOn() and inkOf() can be read: WCAG asks for 4.5 and 3", () => {
  for (const theme of [THEMES.light, THEMES.dark]) {
    const kernels = Array.from({ length: 30 }, (_, i) => `k${i}`);
    for (const { color } of paletteOf(kernels, theme.name).values()) {
      assert(contrast(inkOn(color), color) >= 4.5, `${color} ${inkOn(color)}`);
      const ink = inkOf(color, theme);
      assert(contrast(ink, theme.paper) >= 3, `${color} ${ink} ${theme.name}`);
    }
    assert(contrast(theme.dim, theme.paper) >= 4.5);
    assert(contrast(theme.ink, theme.paper) >= 7);
  }
});

Deno.test("mixed() goes from one colour to the other", () => {
  assertStrictEquals(mixed("#000000", "#ff8000", 0), "#000000");
  assertStrictEquals(mixed("#000000", "#ff8000", 0.5), "#804000");
  assertStrictEquals(mixed("#000000", "#ff8000", 1), "#ff8000");
});

function contrast(a: string, b: string): number {
  const [low, high] = [a, b].map(luminance).toSorted((x, y) => x - y);
  return (high! + 0.05) / (low! + 0.05);
}

function luminance(color: string): number {
  const [r, g, b] = [1, 3, 5].map((at) => {
    const c = parseInt(color.slice(at, at + 2), 16) / 255;
    return c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * r! + 0.7152 * g! + 0.0722 * b!;
}
