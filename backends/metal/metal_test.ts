import { flatten } from "./library.ts";
import { metal } from "./metal.ts";
import { llvmTool } from "../testdata/code_object.ts";
import { conformanceTests } from "../testdata/emulated.ts";
import {
  compileMetal,
  emulatedMetal,
  metalControls,
  metalPath,
  metalTest,
} from "../testdata/metal_mocks.ts";
import { failure } from "../testdata/mock_device.ts";
import { cxxTest } from "../testdata/mocks.ts";
import { f32, i32, i64, mem } from "../../bench/device/queue.ts";
import { EXIT } from "../../bench/model/errors.ts";
import {
  deepStrictEqual,
  match,
  ok,
  rejects,
  strictEqual,
  throws,
} from "node:assert/strict";
import { fileURLToPath } from "node:url";

const NOWHERE = { metal: ["libnothing.dylib"], objc: ["libnothing.dylib"] };

Deno.test("find() says what was tried where there is no Metal", () => {
  const { devices, reason } = metal({ ...NOWHERE, os: "linux" }).find();
  deepStrictEqual(devices, []);
  strictEqual(
    reason,
    "Metal is only on macOS, and this is linux: tried libnothing.dylib",
  );
  match(
    metal({ ...NOWHERE, os: "darwin" }).find().reason,
    /^no Metal: tried libnothing\.dylib$/,
  );
});

Deno.test("compiler() and open() without Metal are one line each", () => {
  const backend = metal({ ...NOWHERE, os: "linux" });
  throws(() => backend.compiler("applegpu_g15s"), {
    failure: "compile",
    message: /^Cannot compile for Metal: Metal is only on macOS.*on a Mac/,
  });
  const info = {
    index: 0,
    name: "GPU",
    arch: "applegpu_g15s",
    units: 1,
    cacheBytes: 1,
    flushBytes: 1,
    sharedBytes: 1,
    driver: "1",
  };
  throws(() => backend.open(info), { name: "UserError", code: EXIT.nothing });
});

cxxTest("find() describes each device", () => {
  const mock = metalControls();
  mock.reset();
  const library = [metalPath()];
  const { devices, reason } = metal({
    objc: library,
    metal: library,
    cores: () => 40,
  }).find();
  strictEqual(reason, "");
  deepStrictEqual(devices, [{
    index: 0,
    name: "emulator applegpu_g15s",
    arch: "applegpu_g15s",
    units: 40,
    cacheBytes: 64 * 2 ** 20,
    flushBytes: 128 * 2 ** 20,
    sharedBytes: 32 * 1024,
    driver: "macOS 15.1 (Build 24B83)",
  }]);
});

cxxTest("find() says why a device is of no use", () => {
  const mock = metalControls();
  mock.reset();
  mock.arch("intel", 1006);
  match(
    emulatedMetal({ fresh: true }).find().reason,
    /no simdgroup matrices: an Apple M1/,
  );
  mock.arch("applegpu_g15s");
  mock.old(true);
  match(
    emulatedMetal({ fresh: true }).find().reason,
    /needs macOS 14 for bfloat/,
  );
  mock.old(false);
  mock.devices(0);
  strictEqual(
    emulatedMetal({ fresh: true }).find().reason,
    "Metal has no device that can be used",
  );
  mock.devices(1);
});

conformanceTests("metal", emulatedMetal, metalTest);

const ONE = { grid: [1, 1, 1], block: [32, 1, 1] } as const;
const NONE = "KERNEL(64) void none(WHERE) {}";

metalTest(
  "interval() has a command buffer for itself, of the GPU's own times",
  async (device, mock) => {
    using module = device.load(await compileMetal(NONE));
    using memory = device.alloc(64);
    using interval = device.interval();
    const step = module.program("none").step([], ONE);
    step.enqueue();
    interval.measure(() => {
      step.enqueue();
      memory.fill(1);
      step.enqueue();
    });
    step.enqueue();
    device.synchronize();
    // Two dispatches of 10 us and a fill of 5 us; others' are before and after it.
    strictEqual(interval.nanoseconds(), 25_000);
    strictEqual(mock.calls("commit"), 3);
    // One that waits in between is measured from its first start to its last end.
    interval.measure(() => {
      step.enqueue();
      device.synchronize();
      step.enqueue();
    });
    device.synchronize();
    strictEqual(interval.nanoseconds(), 40_000);
    interval.measure(() => {});
    strictEqual(interval.nanoseconds(), 0);
  },
);

metalTest("step() gives a kernel every kind of argument", async (device) => {
  const text = `struct Pair { int a, b; };
KERNEL(32) void report(device float* to [[buffer(0)]], constant int& a [[buffer(1)]],
    constant uint& b [[buffer(2)]], constant long& c [[buffer(3)]], constant float& d [[buffer(4)]],
    constant Pair& e [[buffer(5)]], WHERE) {
  if (tid == 0) { to[0] = a; to[1] = b; to[2] = c; to[3] = d; to[4] = e.b; }
}`;
  using module = device.load(await compileMetal(text));
  using to = device.alloc(64);
  const pair = new Uint8Array(new Int32Array([1, 9]).buffer);
  const args = [
    ...[mem(to.slice(16, 32)), i32(-7), { kind: "u32", value: 4e9 } as const],
    ...[i64(2n ** 40n), f32(0.25)],
    { kind: "bytes", bytes: pair, align: 4 } as const,
  ];
  const step = module.program("report").step(args, ONE);
  pair.fill(0);
  step.enqueue();
  const got = [...new Float32Array(to.download().buffer, 16, 5)];
  deepStrictEqual(got, [-7, 4e9, 2 ** 40, 0.25, 9]);
  // A kernel that takes others is told, as by Metal's own validation.
  module.program("report").step([mem(to), i64(1)], ONE).enqueue();
  match(failure(() => device.synchronize()).message, /argument 1 is of/);
});

cxxTest("compile() is the compiler's first error, with its file", async () => {
  metalControls().reset();
  const text = "KERNEL(32) void k(WHERE) { undeclared = 1; }";
  await rejects(compileMetal(text), {
    failure: "compile",
    message: /^k\.metal:2:\d+: error: .*undeclared/,
  });
});

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
  "kernels/matmul/metal/product.metal": tiled,
  "kernels/matmul/metal/strided.metal": typed,
  "kernels/matmul/metal/sums.metal": typed,
  "kernels/qmm/metal/dequantise.metal": formats,
  "kernels/qmm/metal/qmm.metal": formats.flatMap((f) => [
    ...["nn", "nt"].map((LAYOUT) => ({ ...f, ...TILE, LAYOUT, OUT: "f32" })),
    {
      ...f,
      ...TILE,
      BN: 64,
      BM: 32,
      LAYOUT: "nt",
      OUT: "bf16",
      MATRIX_UNITS: 1,
    },
  ]),
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

const missing = clang === undefined ? " (ignored: no clang++)" : "";
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
