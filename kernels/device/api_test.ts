/**
 * Checks that intrinsics and assembly are in this folder alone, and that the lane emulator has
 * each of its functions.
 */

import { assert, assertEquals } from "@std/assert";

/** Path from `kernels/`, and text without comments. */
type Source = readonly [path: string, text: string];

const CODE = /\.(cu|cuh|hip|metal|c|h)$/;
const KERNELS = new URL("../", import.meta.url);

/** The text of C++ without its comments. */
function withoutComments(text: string): string {
  return text.replace(/\/\*[^]*?\*\/|\/\/.*/g, "");
}

function* sources(folder = ""): Generator<Source> {
  for (
    const { name, isDirectory } of Deno.readDirSync(new URL(folder, KERNELS))
  ) {
    // Test data are not kernels.
    if (isDirectory && name !== "testdata") {
      yield* sources(`${folder}${name}/`);
    } else if (CODE.test(name)) {
      const path = `${folder}${name}`;
      const text = Deno.readTextFileSync(new URL(path, KERNELS));
      yield [path, withoutComments(text)];
    }
  }
}

/** Words of instructions, of built-in functions and of memory that only a GPU has. */
const ONLY_HERE =
  /\basm\b|\b__(?:shared__|cvta_|builtin_amdgcn_|hip_)\w*|\bsimd(?:group)?_(?!barrier)\w+/g;

/** `path: word` for each word of `all` that is not in its place. */
function stray(all: Iterable<Source>): string[] {
  return [...all].filter(([path]) => !path.startsWith("device/"))
    .flatMap(([path, text]) =>
      [...text.matchAll(ONLY_HERE)].map(([word]) => `${path}: ${word}`)
    );
}

/** The functions that `text`, a header of this folder, defines. */
function functionsOf(text: string): string[] {
  const names = text.matchAll(/^\s*DEVICE [\w ]+?[ *&](\w+)(?:<\w+>)?\(/gm);
  return [...new Set([...names].map(([, name]) => name!))].sort();
}

/** Those of `names` that `text` does not call or define. */
function missing(names: readonly string[], text: string): string[] {
  return names.filter((name) =>
    !new RegExp(`\\b${name}(?:<[^;]*?>)?\\(`).test(text)
  );
}

const all = [...sources()].sort();
const headers = all.filter(([path]) => path.startsWith("device/"));

Deno.test("stray() finds assembly and built-in functions, not the words of comments", () => {
  const lines = `asm("mov"); // asm
    asm volatile("");
    __shared__ float x;
    __builtin_amdgcn_s_barrier();
    simd_sum(x);`;
  assertEquals(
    stray([["m/k.cu", withoutComments(lines)], ["device/p.h", lines]]),
    [
      "m/k.cu: asm",
      "m/k.cu: asm",
      "m/k.cu: __shared__",
      "m/k.cu: __builtin_amdgcn_s_barrier",
      "m/k.cu: simd_sum",
    ],
  );
});

Deno.test("kernels leave assembly, built-in functions and shared memory to this folder", () => {
  assert(all.length > 60, `${all.length} sources`);
  assertEquals(stray(all), []);
});

Deno.test("functionsOf() and missing() know definitions and calls", () => {
  const header = `DEVICE void copy(unsigned to) {}
template <int N>
DEVICE unsigned long long wide(int x) { copy(x); }
  DEVICE void product<N>(float (&d)[N / 2]) {`;
  const names = functionsOf(header);
  assertEquals(names, ["copy", "product", "wide"]);
  assertEquals(missing(names, "product<8>(d), copying(), wide;"), [
    "copy",
    "wide",
  ]);
});

for (const [path, text] of headers) {
  const name = path.slice("device/".length);
  const functions = functionsOf(text);

  Deno.test(`emulator/api has each function of ${name}`, () => {
    assert(functions.length >= 1, name);
    const file = name.replace(/^ptx_(tcgen05.h)|^ptx_.*/, "$1") || "ptx.h";
    const url = new URL(`../../emulator/api/${file}`, import.meta.url);
    const text = withoutComments(Deno.readTextFileSync(url));
    assertEquals(missing(functions, text), []);
  });
}

Deno.test("each function of ptx*.h is called by a kernel or by another", () => {
  const ptx = headers.filter(([path]) => path.startsWith("device/ptx"));
  const calls = all.map(([path, text]) =>
    path.startsWith("device/") ? text.replace(/^\s*DEVICE .*?\(/gm, "") : text
  );
  assertEquals(
    missing(ptx.flatMap(([, text]) => functionsOf(text)), calls.join("\n")),
    [],
  );
});
