import { dirname, join } from "node:path";
import {
  assertEquals,
  assertMatch,
  assertNotMatch,
  assertThrows,
} from "@std/assert";
import type { Arg } from "../../bench/device/queue.ts";
import { UserError } from "../../bench/model/errors.ts";
import { comparedKernels } from "./inferred.ts";
import { inferSource } from "./source_suite.ts";
import { functionsIn } from "./functions.ts";
import { signatureOf } from "./roles.ts";

/** Infers the suite of `text` in a file of that name. */
function infer(name: string, text: string, settings = "") {
  const folder = Deno.makeTempDirSync();
  try {
    const path = join(folder, name);
    Deno.writeTextFileSync(path, text);
    return inferSource(path + settings);
  } finally {
    Deno.removeSync(folder, { recursive: true });
  }
}

/** The roles of a function's parameters and its type, or why it has none. */
function roles(parameters: string): string {
  const [one] = functionsIn(`void f(${parameters}) {}`);
  const found = signatureOf(one!.parameters);
  return typeof found === "string" ? found : [
    ...found.taken.map(({ role }) => role),
    ...[found.type, found.typeB, found.typeC].filter(Boolean),
  ].join(" ");
}

const ARGS = "const float *A, const float *B, float *C, int M, int N, int K";

Deno.test("signatureOf() tells operands by const or by name, and sizes by name or order", () => {
  const known = [
    [ARGS, "A B C m n k f32"],
    [
      "int M, int N, int K, float alpha, const float* A, const float* B, float beta, float* C",
      "m n k alpha A B beta C f32",
    ],
    [
      "float *__restrict__ c, const float *__restrict__ a, const float *__restrict__ b, size_t n, size_t k, size_t m",
      "C A B n k m f32",
    ],
    [
      "const __half *x, const __half *w, const __half *y, __half *out, int, int, int",
      "A B bias C m n k f16",
    ],
    [
      "const uint16_t *A, const uint16_t *B, const uint16_t *bias, uint16_t *C, int M, int N, int K, int lda, int ldb, int ldc",
      "A B bias C m n k lda ldb ldc bf16",
    ],
    ["float *A, float *B, float *C, int N", "A B C size f32"],
    ["float *c, float *b, float *a, float *bias, int n", "C B A bias size f32"],
    [
      "const __nv_bfloat16 d_A[], const __nv_bfloat16 d_B[], __nv_bfloat16 d_C[], unsigned int rows, unsigned inner, int columns",
      "A B C m n k bf16",
    ],
    [
      "const float *B, const float *A, float *out, int M, int N, int K",
      "B A C m n k f32",
    ],
    ["float *B, float *A, float *out, int n", "B A C size f32"],
    [
      "const float *x, const float *A, const float *b, float *y, int M, int N, int K",
      "A B bias C m n k f32",
    ],
    [
      "const _Float16 *A, const _Float16 *B, uint16_t *C, int n",
      "A B C size f16",
    ],
    [
      "const uint16_t *A, const uint16_t *B, float *C, int n",
      "A B C size bf16 f32",
    ],
    [
      "const __half *A, const __half *B, float *C, int M, int N, int K",
      "A B C m n k f16 f32",
    ],
    [
      "const __half *a, const float *b, const __half *bias, __half *c, int n",
      "A B bias C size f16 f32",
    ],
  ] as const;
  for (const [parameters, expected] of known) {
    assertEquals(roles(parameters), expected, parameters);
  }
});

Deno.test("signatureOf() says why a function is no product", () => {
  const strange = [
    ["", /it has 0 pointers/],
    ["float *A, float *C, int n", /it has 2 pointers/],
    [
      "const float *A, const float *B, float *C, int M, int N, int stride",
      /`int stride` is none of M/,
    ],
    [
      "const float *A, const float *B, float *C, int M, int N",
      /its integers are not M, N and K/,
    ],
    [
      "const float *A, const float *B, float *C, int M, int N, int K, float scale",
      /`float scale` has no meaning/,
    ],
    [
      "const double *A, const double *B, double *C, int M, int N, int K",
      /the type of `const double \*A`/,
    ],
    [
      "const __half *A, const __half *B, const __half *bias, float *C, int n",
      /its bias has type f16 and its C f32/,
    ],
  ] as const;
  for (const [parameters, expected] of strange) {
    assertMatch(roles(parameters), expected, parameters);
  }
});

Deno.test("inferSource() takes the entry that can be called, and what is beside it", () => {
  const { suite, kernel, backend, note, ...rest } = infer(
    "my gemm.c",
    `#include <stddef.h>
     // void no(${ARGS}) {}
     static void helper(${ARGS}) { char c = '}'; }
     struct pair { int a, b; };
     static const int table[] = {1, 2};
     double half_of(double x) { return x / 2; }
     void naive(${ARGS});
     void naive(${ARGS}) { helper(A, B, C, M, N, K); { } }
     int main(void) { return 0; }`,
  );
  // A built-in kernel has the name.
  assertMatch(suite.name, /_my_gemm\.c-[0-9a-f]{6}$/);
  assertEquals([kernel, backend], ["naive.c", "cpu"]);
  assertEquals(note, "my gemm.c: naive(A, B, C, m, n, k) is a matmul in f32");
  assertEquals(
    comparedKernels({ suite, kernel, backend, note, ...rest })[0],
    "naive.c",
  );
  const [one] = [...suite.cases("quick")];
  assertEquals(one!.problem.title.slice(0, 20), "m=64 n=64 k=64 type=");
});

Deno.test("inferSource() names suites apart whose files have one name", () => {
  const folder = Deno.makeTempDirSync();
  try {
    const names = ["a/mine.c", "b/mine.c", "a/mine.py"].map((file) => {
      const path = join(folder, file);
      Deno.mkdirSync(dirname(path), { recursive: true });
      Deno.writeTextFileSync(
        path,
        file.endsWith(".c") ? `void mine(${ARGS}) {}` : "def mine(A, B): ...",
      );
      return inferSource(path).suite.name;
    });
    for (const [i, end] of ["a_mine.c", "b_mine.c", "a_mine.py"].entries()) {
      assertMatch(names[i]!, new RegExp(`^\\w.*_${end}$`));
    }
    assertEquals(new Set(names).size, 3);
  } finally {
    Deno.removeSync(folder, { recursive: true });
  }
});

Deno.test("inferSource() names suites apart whose files differ in what a name cannot have", () => {
  const folder = Deno.makeTempDirSync();
  try {
    const long = "e".repeat(95);
    const files = [
      ...["é.c", "ü.c", `${"ü".repeat(90)}.c`, "my e.c", "my+e.c"],
      ...[`a/${long}.c`, `b/${long}.c`, "my_e.c"],
    ];
    const names = files.map((file) => {
      const path = join(folder, file);
      Deno.mkdirSync(dirname(path), { recursive: true });
      Deno.writeTextFileSync(path, `void mine(${ARGS}) {}`);
      return inferSource(path).suite.name;
    });
    for (const name of names.slice(0, -1)) {
      assertMatch(name, /^\w.*\.c-[0-9a-f]{6}$/);
    }
    assertEquals(names[2]!.length, 100);
    assertMatch(names.at(-1)!, /_my_e\.c$/);
    assertEquals(new Set(names).size, files.length);
  } finally {
    Deno.removeSync(folder, { recursive: true });
  }
});

const CUDA = (parameters: string, body: string) =>
  `extern "C" __global__ void __launch_bounds__(128) mine(${parameters}) { ${body} }`;

/** The arguments and launch shape of the kernel of `text` at 100 x 40 x 64. */
function launchOf(text: string, settings = "") {
  const { suite, kernel } = infer("mine.cu", text, settings);
  const one = [...suite.cases("all", { m: [100], n: [40], k: [64] })]
    .find((c) => c.kernel === kernel)!;
  let launch: { args: readonly Arg[]; shape: unknown } | undefined;
  const program = {
    step: (args: readonly Arg[], shape: unknown) => (launch = { args, shape }),
  };
  one.prepare(
    {
      config: {},
      operands: { A: {}, B: {}, C: {} },
      program: () => program,
    } as unknown as Parameters<typeof one.prepare>[0],
  );
  return launch!;
}

function shapeOf(text: string, settings?: string): unknown {
  return launchOf(text, settings).shape;
}

Deno.test("inferSource() passes integers and scalars in the bytes of their types", () => {
  const { args } = launchOf(CUDA(
    "float *A, float *B, float *C, size_t M, int N, unsigned long long K, float alpha, double beta",
    "",
  ));
  assertEquals(
    args.map((arg) => arg.kind === "memory" ? arg.kind : { ...arg }),
    [
      ...["memory", "memory", "memory"] as const,
      { kind: "i64", value: 100 },
      { kind: "i32", value: 40 },
      { kind: "i64", value: 64 },
      { kind: "f32", value: 1 },
      { kind: "f64", value: 0 },
    ],
  );
});

Deno.test("inferSource() gives each element of C a thread, in blocks that the source tells", () => {
  const flat = "int i = blockIdx.x * blockDim.x + threadIdx.x;";
  const square = "int r = blockIdx.y * 32 + threadIdx.y, c = threadIdx.x;";
  const grid = (grid: number[], block: number[]) => ({ grid, block });
  assertEquals(
    [
      shapeOf(CUDA(ARGS, flat)),
      shapeOf(CUDA(ARGS, square)),
      shapeOf(`#define TILE_SIZE 32\n${CUDA(ARGS, square)}`),
      shapeOf(CUDA(ARGS, square), "?block=32"),
      shapeOf(CUDA(ARGS, flat), "?block=64&grid=n/64xm/2*k"),
      shapeOf(CUDA(ARGS, flat), "?block=64&grid=1&shared=k*4"),
      shapeOf(`// mnkbench: block=8,4 grid=n/8,m/4\n${CUDA(ARGS, flat)}`),
    ],
    [
      grid([32, 1, 1], [128, 1, 1]),
      grid([3, 7, 1], [16, 16, 1]),
      grid([2, 4, 1], [32, 32, 1]),
      // A block of 32 x 1.
      grid([2, 100, 1], [32, 1, 1]),
      grid([1, 3200, 1], [64, 1, 1]),
      { ...grid([1, 1, 1], [64, 1, 1]), sharedBytes: 256 },
      grid([5, 25, 1], [8, 4, 1]),
    ],
  );
});

Deno.test("inferSource() takes the Python function of the name before one of a comment", () => {
  const text =
    "# mnkbench: entry=other\ndef mine(A, B):\n  return A @ B\ndef other(A, B):\n  return B @ A\n";
  assertMatch(infer("mine.py", text, ":mine").note, /mine\.py: mine\(/);
  assertMatch(infer("mine.py", text).note, /mine\.py: other\(/);
  assertThrows(
    () => infer("mine.py", text, ":mine?entry=other"),
    UserError,
    "entry is set twice",
  );
});

Deno.test("inferSource() takes a Metal kernel's buffers by their indices", () => {
  const metal = (more: string) =>
    `kernel void mine(constant int &M [[buffer(3)]], constant int &N [[ buffer(4) ]],
       constant uint &K [[buffer(5)]], device const half *A [[buffer(0)]],
       device const half *B [[buffer(1)]], device half *C [[buffer(2)]], ${more}) {}`;
  const note = (more: string) => infer("mine.metal", metal(more)).note;
  assertMatch(
    note("uint2 at [[thread_position_in_grid]]"),
    /: mine\(A, B, C, m, n, k\) is a matmul in f16, in blocks of 16,16 threads, a grid of n\/16,m\/16 /,
  );
  assertMatch(
    note("uint at [[thread_position_in_grid]]"),
    /in blocks of 256 threads, a grid of m\*n\/256 /,
  );
  const tiled = () => note("uint2 tile [[threadgroup_position_in_grid]]");
  assertMatch(
    assertThrows(tiled, UserError).message,
    /its launch shape cannot be inferred/,
  );
});

Deno.test("inferSource() takes the size of dynamic shared memory, and types of B and C", () => {
  const cu = CUDA(ARGS, "extern __shared__ float tile[]; tile[0] = 0;");
  const { note } = infer("a.cu", cu, "?shared=k*4");
  assertMatch(note, /, with k\*4 bytes of shared memory \(--block/);
  const mixed = CUDA(ARGS.replace("float *C", "__half *C"), "");
  assertMatch(infer("a.cu", mixed).note, /is a matmul in f32, type_c=f16, in/);
});

Deno.test("inferSource() announces what each parameter gets, and what is assumed", () => {
  const note = (text: string) => infer("mine.c", text).note;
  assertEquals(
    [
      note("void sq(float *out, float *x, float *w, int n) {}"),
      note(`// mnkbench: epilogue=relu layout=nt\nvoid mine(${ARGS}) {}`),
      note(
        "void mine(float *d_C, float *d_A, float *d_B, float *bias, int M, int n, int k) {}",
      ),
      note(
        "void mine(const float *x, const float *w, float *out, int, int, int) {}",
      ),
    ],
    [
      "mine.c: sq(out=A, x=B, w=C, n=size) is a matmul in f32; the order A, B, C of its pointers is assumed, as none is const",
      "mine.c: mine(A, B, C, m, n, k) is a matmul in f32, epilogue=relu layout=nt",
      "mine.c: mine(C, A, B, bias, m, n, k) is a matmul in f32, epilogue=bias",
      "mine.c: mine(x=A, w=B, out=C, m, n, k) is a matmul in f32",
    ],
  );
});

Deno.test("inferSource() takes axes from a comment, and says what cannot run", () => {
  const { suite, kernel } = infer(
    "mine.c",
    `/* mnkbench: epilogue=relu layout=nt */ void mine(${ARGS}) {}`,
  );
  const cases = [
    ...suite.cases("all", { m: [4], n: [4], k: [4, 8], lda: [8] }),
  ];
  const own = cases.filter((one) => one.kernel === kernel);
  const [other] = [...suite.cases("all", { m: [4], type: ["f16"] })]
    .filter((one) => one.kernel === kernel);
  assertEquals(
    own.map(({ problem }) => problem.key.layout + problem.key.params),
    ["ntepilogue=relu lda=8", "ntepilogue=relu"],
  );
  const info = {} as Parameters<typeof own[0]["unsupported"]>[0];
  assertEquals(own.map((one) => one.unsupported(info)), [
    "it takes no lda",
    undefined,
  ]);
  assertEquals(other!.unsupported(info), "its matrices are f32");
});

Deno.test("inferSource() says in one line what it lacks", () => {
  const strange = [
    ["a.metal", "void kernel_of(int n) {}", "", /it has no `kernel` function/],
    ["a.c", "int x;", "", /it has no function that is not static/],
    [
      "a.cu",
      `__global__ void k(${ARGS}) {}`,
      "",
      /k has C\+\+ linkage; write `extern "C"`/,
    ],
    [
      "a.cu",
      `#define TILE 64\n${CUDA(ARGS, "blockIdx.y; threadIdx.y;")}`,
      "",
      /cannot be inferred, as a block of 64 × 64 threads is larger than 1024; say it by --block/,
    ],
    [
      "a.cu",
      CUDA(ARGS, "blockIdx.y; threadIdx.x;"),
      "",
      /launch shape cannot be inferred, as its grid has two dimensions and its blocks have one; say it by --block/,
    ],
    ["a.cu", CUDA(ARGS, ""), "?grid=n+1", /n\+1 is no grid/],
    ["a.cu", CUDA(ARGS, ""), "?shared=8x8", /8x8 is no size of shared memory/],
    [
      "a.cu",
      CUDA(ARGS, "extern __shared__ float tile[]; tile[0] = 0;"),
      "",
      /the size of tile, its dynamic shared memory, .* by --shared BYTES/,
    ],
    [
      "a.c",
      `void a(${ARGS}) {} void b(${ARGS}) {}`,
      "",
      /it has 2 entries, a, b; choose one with --entry/,
    ],
    [
      "a.c",
      `void a(${ARGS}) {}`,
      "?entry=c",
      /no function that is not static is named c: there are a$/,
    ],
    [
      "a.c",
      "void a(int n) {}",
      "",
      /no function is called as \(A, B, .*: of a, it has 0 pointers/,
    ],
    [
      "a.c",
      `int helper(int n) {} void mm(${ARGS.replaceAll("float", "double")}) {}`,
      "",
      /: of helper, it has 0 pointers, .*; of mm, the type of `const double \*A`/,
    ],
    ["a.c", `void a(${ARGS}) {}`, "?block=1", /a C function is called once/],
    [
      "a.c",
      `// mnkbench: size=3\nvoid a(${ARGS}) {}`,
      "",
      /: line 1: there is no setting size: there are entry, /,
    ],
  ] as const;
  for (const [name, text, settings, expected] of strange) {
    const { message } = assertThrows(
      () => infer(name, text, settings),
      UserError,
    );
    assertMatch(message, expected);
    assertEquals(message.split("\n").length, 1);
  }
  const { message } = assertThrows(
    () => inferSource("/nowhere/a.c"),
    UserError,
  );
  assertMatch(
    message,
    /^Cannot use the source file \/nowhere\/a.c: there is no such file/,
  );
});

const PLAIN = `void a(${ARGS}) {}`;

Deno.test("inferSource() reads settings only of comments that begin so, of all of them", () => {
  const [begin, end] = ["/*", "*/"];
  const { suite, kernel } = infer(
    "a.c",
    `// Measured by mnkbench: median=9.5 us
     static const char *s = "mnkbench: m=3 // mnkbench: n=4";
     // mnkbench: layout=nt
     ${begin}
      * mnkbench: epilogue=relu lda=100
      ${end}
     ${PLAIN.replace("int K", "int K, int lda, int ldb, int ldc")}`,
  );
  const [one] = [...suite.cases("quick")].filter((c) => c.kernel === kernel);
  assertEquals(
    one!.problem.title,
    "m=64 n=64 k=64 type=f32 epilogue=relu layout=nt lda=100",
  );
});

Deno.test("inferSource() says that a kernel with beta must not read C", () => {
  const note = (parameters: string) =>
    infer("a.c", `void a(${parameters}) {}`).note;
  assertMatch(
    note(`${ARGS}, float beta`),
    /; beta is 0, so it must not read C$/,
  );
  assertNotMatch(note(`${ARGS}, float alpha`), /beta/);
});

Deno.test("inferSource() refuses each setting that it cannot apply, with its line", () => {
  const refused = [
    ["m=abc", /line 2: m is no setting: give sizes by --m, --n and --k$/],
    ["layout=nt n=7", /line 2: n is no setting/],
    ["layout=tt", /line 2: layout is tt: give one of nn, nt$/],
    ["a harness", /line 2: `a` is no setting: write name=value/],
    ["entry=größe", /line 2: the entry größe is not made of letters/],
    ["entry=a\n// mnkbench: entry=b", /line 3: entry is set twice$/],
    [
      "type=bf16",
      /type=bf16 contradicts the parameters of a: its matrices are f32$/,
    ],
    ["epilogue=bias", /epilogue=bias contradicts .* it takes no bias$/],
    ["lda=100", /lda=100 contradicts the parameters of a: it takes no lda$/],
    ["block=16,16", /a C function is called once, without block, grid and/],
    ["shared=4096", /a C function is called once, without block, grid and/],
    ["shared=4k+1", /line 2: 4k\+1 is no size of shared memory/],
    ["type_c=f16", /type_c=f16 contradicts the parameters of a: its C is f32$/],
    ["x".repeat(1000), /line 2: `x{50,60}…` is no setting/],
  ] as const;
  for (const [comment, expected] of refused) {
    const text = `\n// mnkbench: ${comment}\n${PLAIN}`;
    const { message } = assertThrows(() => infer("a.c", text), UserError);
    assertMatch(message, expected);
  }
});

Deno.test("inferSource() reads what is compiled of a source", () => {
  const kernel = CUDA(ARGS, "");
  const sources = [
    ["a.c", `#if 0\nvoid b(int n) {\n#else\n${PLAIN}\n#endif`],
    ["a.c", `#if 1\n${PLAIN}\n#else\nvoid b(${ARGS}) {}\n#endif`],
    ["a.c", `#ifdef X\n${PLAIN}\n#else\n${PLAIN}\n#endif`],
    ...[
      ["#define X", "#ifdef X", "#else"],
      ["", "#ifndef X", "#else"],
      ["#define X 1", "#if X", "#else"],
      ["#define X", "#if defined(X)", "#elif defined(Y)"],
      ["#define X\n#undef X", "#if !defined X", "#else"],
      ["", "#ifndef __cplusplus", "#else"],
      ["#ifdef Y\n#define Z\n#endif", "#if !Z", "#else"],
    ].flatMap(([before, begin, other]) => {
      const text = `${before}\n${begin}\n${PLAIN}\n${other}\nvoid a(int n) {}`;
      const sideways = `#if 0\n#elif 1\n${text}\n#endif\n#else\nvoid a() {}`;
      return [["a.c", `${text}\n#endif`], [
        "a.c",
        `${sideways}\n#endif`,
      ]] as const;
    }),
    // What a compiler or a header may define is not known: the last counts.
    ["a.c", `#ifdef __AVX2__\nvoid a(int n) {}\n#else\n${PLAIN}\n#endif`],
    ["a.c", `#ifndef __AVX2__\nvoid a(int n) {}\n#else\n${PLAIN}\n#endif`],
    [
      "a.c",
      `#include "x.h"\n#ifdef X\nvoid a(int n) {}\n#elif Y\n${PLAIN}\n#endif`,
    ],
    [
      "a.cu",
      `#ifdef __CUDACC__\n${kernel}\n#else\nvoid a(int n) {}\n#endif`,
    ],
    ["a.c", `void größe(int n) {} ${PLAIN}`],
    ["a.c", `#define OPEN { \\\n {\n${PLAIN}`],
    ["a.c", `const char open = '"', brace = '{', *s = "}{";\n${PLAIN}`],
    ["a.c", PLAIN.replaceAll(/\*(\w)/g, "$1[restrict]")],
    ["a.c", PLAIN.replaceAll(/\*(\w)/g, "$1[static 1]")],
    ["a.cu", `const char *s = R"(")", *t = R"x({)")x";\n${kernel}`],
    [".c", PLAIN],
    ["q?x=1.c", PLAIN],
  ] as const;
  for (const [name, text] of sources) {
    const { note } = infer(name, text);
    assertMatch(note, /: (?:a|mine)\(A, B, C, m, n, k\) is/, text);
  }
});

Deno.test("inferSource() says which forms it does not read, and what to write", () => {
  const strange = [
    ["a.c", `void größe(${ARGS}) {}`, /the name größe is not made of letters/],
    ["a.c", "void f(A) float *A; int n;\n{}", /K&R definitions are not.*guide/],
    ["a.cu", `template<int T> __global__ ${PLAIN}`, /templates, .*suite file/],
    [
      "a.cu",
      `#define EXT extern "C" __global__\nEXT ${PLAIN}`,
      /macros .*suite file/,
    ],
    [
      "a.c",
      `typedef float T; ${PLAIN.replaceAll("float", "T")}`,
      /typedefs and macros are not read; /,
    ],
    [
      "a.c",
      Array.from({ length: 9 }, (_, i) => `void f${i}(void) {}`).join(),
      /: of f0, .*; of f4, it has [^;]*; and so on, 9 in all; change /,
    ],
    ["a.c", PLAIN.replaceAll("*", "**"), /the type of `const float \*\*A`/],
  ] as const;
  for (const [name, text, expected] of strange) {
    const { message } = assertThrows(() => infer(name, text), UserError);
    assertMatch(message, expected);
  }
});

Deno.test("inferSource() reads long sources once, and refuses longer ones", () => {
  const long = [
    ["/* \n".repeat(500_000), /it has no function/],
    ['R"(\n'.repeat(500_000), /it has no function/],
    ["namespace \n".repeat(380_000) + "{", /it has no function/],
    [
      `void f(const float *A ${"[[ \n".repeat(500_000)}) {}`,
      /it has 1 pointers/,
    ],
    [
      `void f(${"float *bias,\n".repeat(300_000)} int n) {}`,
      /it has 300001 param/,
    ],
    [`int x${"TILE".repeat(16_000)};`.repeat(2), /line 1 has more than 65536/],
    [" \n".repeat(2 ** 21 + 1), /it has 4194306 characters/],
  ] as const;
  for (const [text, expected] of long) {
    const { message } = assertThrows(() => infer("a.c", text), UserError);
    assertMatch(message, expected);
  }
  const tile = `int ${"TILE".repeat(16_000)}\n`;
  assertMatch(infer("a.cu", tile + CUDA(ARGS, "")).note, /blocks of 128 /);
});
