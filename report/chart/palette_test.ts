import { assert, assertEquals, assertStrictEquals } from "@std/assert";
import { paletteOf } from "./palette.ts";
import { ops } from "../../kernels/mod.ts";
import { inkOf, inkOn, mixed, THEMES } from "./theme.ts";

const OTHERS = ["torch.mm", "torch.mm+relu", "mine", "torch-of-mine", "yours"];

/** The kernels of each op on each backend, which may be in one picture, and their peers. */
const OPS = ops.flatMap(({ folder, kernels, peers }) => {
  const names = peers?.peers.map(({ name }) => name) ?? [];
  return [...Map.groupBy(kernels, ({ backend }) => backend)]
    .map(([backend, own]) => ({
      folder: `${folder} ${backend}`,
      known: [...new Set([...own.map(({ name }) => name), ...names])],
      peers: names,
    }));
});

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

Deno.test("paletteOf() gives others no colour of an op's kernels", () => {
  const mine = Array.from({ length: 40 }, (_, i) => `mine-${i}`);
  for (const theme of ["light", "dark"] as const) {
    for (const { folder, known } of OPS) {
      for (const count of [1, 5, 40]) {
        const others = mine.slice(0, count);
        const looks = paletteOf([...known, ...others], theme);
        const colors = known.map((name) => looks.get(name)!.color);
        for (const name of others) {
          const { color } = looks.get(name)!;
          assert(!colors.includes(color), `${folder}: ${name}`);
        }
      }
    }
  }
});

Deno.test("paletteOf() gives no two kernels of an op one colour, and peers muted ones", () => {
  for (const theme of ["light", "dark"] as const) {
    for (const { folder, known, peers } of OPS) {
      const looks = paletteOf(known, theme);
      const colors = Map.groupBy(known, (name) => looks.get(name)!.color);
      assertEquals(
        [...colors.values()].filter((names) => names.length > 1),
        [],
        folder,
      );
      const chroma = (name: string) => chromaOf(looks.get(name)!.color);
      const vivid = known.filter((name) => chroma(name) > 0.42);
      assertEquals(vivid.filter((name) => peers.includes(name)), [], folder);
    }
  }
});

Deno.test("paletteOf() draws a kernel of an op the same in every set of kernels", () => {
  for (const { known } of OPS) {
    const all = paletteOf([...known, ...OTHERS], "light");
    for (const name of known) {
      assertEquals(
        paletteOf([name], "light").get(name),
        all.get(name),
        `${name} needs a colour of its own in KNOWN of palette.ts`,
      );
    }
  }
});

Deno.test("paletteOf() draws a kernel's backends in shades, the first as it is alone", () => {
  const looks = paletteOf(["naive (cpu)", "naive (cuda)", "naive"], "light");
  assertEquals(looks.get("naive"), paletteOf(["naive"], "light").get("naive"));
  assertStrictEquals(
    new Set([...looks.values()].map(({ color }) => color)).size,
    3,
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

/** The range of a colour's channels, of 1. */
function chromaOf(color: string): number {
  const channels = [1, 3, 5].map((at) => parseInt(color.slice(at, at + 2), 16));
  return (Math.max(...channels) - Math.min(...channels)) / 255;
}
