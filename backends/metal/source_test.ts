import { deepStrictEqual, ok, strictEqual, throws } from "node:assert/strict";
import { fileURLToPath } from "node:url";
import { flatten } from "./library.ts";
import { llvmTool } from "../testdata/code_object.ts";

const ROOT = new URL("../../", import.meta.url);

Deno.test("flatten() puts each file in once, with lines that name it", () => {
  const files: Readonly<Record<string, string>> = {
    "/k/a.metal": 'one\n#include "../l/b.h"\n#include "c.h"\ntwo',
    "/l/b.h": '#include "../k/c.h"\nb',
    "/k/c.h": "c",
  };
  const text = flatten(
    { source: new URL("file:///k/a.metal"), defines: { N: 4, T: "half" } },
    (file) => files[file.pathname]!,
  );
  deepStrictEqual(text.split("\n"), [
    ...["#define N 4", "#define T half", '#line 1 "a.metal"', "one"],
    ...['#line 1 "b.h"', '#line 1 "c.h"', "c", '#line 2 "b.h"', "b"],
    ...['#line 3 "a.metal"', "", "two"],
  ]);
});

Deno.test("flatten() says which file is missing", () => {
  const source = new URL("./testdata/none.metal", import.meta.url);
  throws(() => flatten({ source, defines: {} }), {
    failure: "compile",
    message: /^Cannot compile none\.metal: none\.metal is missing;/,
  });
});

/** Every MSL source, and constants that it compiles with. */
const TILE = { BM: 16, BN: 32, BK: 32, SM: 2, SN: 2 };
const QUANT = { TYPE: "bf16", GROUP: 32, ENTRY: "entry", FAST: 0 };
const AFFINE = { MODE: "AFFINE", AFFINE_MODE: 1 };
const formats = [
  ...[2, 3, 4, 5, 6, 8].map((BITS) => ({ ...QUANT, ...AFFINE, BITS })),
  { ...QUANT, MODE: "MXFP8", AFFINE_MODE: 0, BITS: 8 },
  { ...QUANT, MODE: "NVFP4", AFFINE_MODE: 0, BITS: 4, GROUP: 16 },
];
const typed = ["bf16", "f16", "f32"].map((TYPE) => ({ TYPE }));
const tiled = typed.flatMap((type) =>
  ["nn", "nt"].map((LAYOUT) => ({ ...type, ...TILE, LAYOUT }))
);
const SOURCES: Readonly<
  Record<string, readonly Readonly<Record<string, string | number>>[]>
> = {
  "backends/metal/instruments.metal": [{}],
  "backends/testdata/conformance.metal": [{}],
  "kernels/matmul/metal/epilogue.metal": typed,
  "kernels/matmul/metal/partial_simd.metal": tiled,
  "kernels/matmul/metal/sum_split.metal": typed,
  "kernels/matmul/metal/sum_tile.metal": typed,
  "kernels/matmul/metal/tile_simd.metal": tiled,
  "kernels/qmm/metal/qmm.metal": formats.flatMap((f) =>
    ["nn", "nt"].map((LAYOUT) => ({ ...f, ...TILE, LAYOUT, OUT: "f32" }))
  ),
  "kernels/qmm/metal/qmv.metal": formats,
  "kernels/qmm/metal/qvm.metal": formats,
  "kernels/qmm/metal/sum_slices.metal": [{ TYPE: "f16", PART: "f32" }],
};

function found(folder: string): string[] {
  return [...Deno.readDirSync(new URL(`${folder}/`, ROOT))].flatMap((e) =>
    e.isDirectory
      ? found(`${folder}/${e.name}`)
      : e.name.endsWith(".metal")
      ? [`${folder}/${e.name}`]
      : []
  );
}

Deno.test("sources number their arguments in order, and none is left out", () => {
  const all = [...found("backends"), ...found("kernels")].sort();
  deepStrictEqual(all, Object.keys(SOURCES));
  for (const path of all) {
    const text = Deno.readTextFileSync(new URL(path, ROOT));
    // The emulator passes arguments by their order, Metal by their numbers.
    for (const entry of text.split("KERNEL(").slice(1)) {
      const numbers = [...entry.matchAll(/\[\[buffer\((\d+)\)\]\]/g)].map((
        [, n],
      ) => Number(n));
      deepStrictEqual(numbers, numbers.map((_, i) => i), path);
    }
  }
});

const clang = llvmTool("clang++");

/** What clang says of `text` with MSL's address spaces as its own. */
function judge(text: string): string {
  const header = fileURLToPath(new URL("emulator/api/msl_spaces.h", ROOT));
  const folder = Deno.makeTempDirSync();
  try {
    Deno.writeTextFileSync(`${folder}/k.cpp`, text);
    const { stderr } = new Deno.Command(clang!, {
      // Metal 3.1 is C++14.
      args: [
        ...["-std=c++14", "-fsyntax-only", "-Wall", "-Werror"],
        ...["-Wno-unknown-attributes", "-Wno-unknown-pragmas"],
        ...["-Wno-duplicate-decl-specifier", "-Wno-unused-const-variable"],
        ...["-include", header, `${folder}/k.cpp`],
      ],
    }).outputSync();
    return new TextDecoder().decode(stderr);
  } finally {
    Deno.removeSync(folder, { recursive: true });
  }
}

const missing = clang === undefined ? " (ignored: no clang++-19)" : "";
for (const [path, constants] of Object.entries(SOURCES)) {
  Deno.test({
    name: `${path} keeps its address spaces apart, as C++14${missing}`,
    ignore: clang === undefined,
    fn() {
      for (const defines of constants) {
        const source = new URL(path, ROOT);
        strictEqual(judge(flatten({ source, defines })), "");
      }
    },
  });
}

Deno.test({
  name: `a pointer of another address space is refused${missing}`,
  ignore: clang === undefined,
  fn() {
    ok(
      /changes address space/.test(judge(
        "void f(threadgroup float *p, device float *q) { q = p; }",
      )),
    );
  },
});
