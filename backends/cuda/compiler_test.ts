import {
  deepStrictEqual,
  match,
  ok,
  rejects,
  strictEqual,
  throws,
} from "node:assert/strict";
import { CaseError } from "../../bench/model/errors.ts";
import { cuda } from "./cuda.ts";
import { openFirst, thisHost } from "../shared/find_library.ts";
import {
  cudaCompiler,
  cudaIncludes,
  cudaTarget,
  findNvcc,
  openNvrtc,
  openWorkingNvrtc,
} from "./compiler.ts";
import { build, ccTest, fakeHost } from "../testdata/mocks.ts";
import { setTimeout } from "node:timers/promises";
import type { Compiler } from "../../bench/device/device.ts";
import { rtcCompiler } from "../shared/rtc.ts";

const nvcc = findNvcc(thisHost);

/** Registers a test that needs nvcc; its name says so where there is none. */
function nvccTest(name: string, fn: (folder: string) => Promise<void>): void {
  Deno.test({
    name: nvcc ? name : `${name} (ignored: no nvcc found)`,
    ignore: !nvcc,
    async fn() {
      const folder = await Deno.makeTempDir();
      try {
        await fn(folder);
      } finally {
        await Deno.remove(folder, { recursive: true });
      }
    },
  });
}

/** The backend without NVRTC. */
const backend = cuda({ nvrtc: [] });

Deno.test("findNvcc() prefers the path to a toolkit", () => {
  const files = ["/usr/local/cuda/bin/nvcc", "/opt/bin/nvcc"];
  strictEqual(
    findNvcc(fakeHost({ PATH: "/bin:/opt/bin" }, files)),
    "/opt/bin/nvcc",
  );
  strictEqual(
    findNvcc(fakeHost({ PATH: "/bin" }, files)),
    "/usr/local/cuda/bin/nvcc",
  );
  strictEqual(findNvcc(fakeHost({}, [])), undefined);
});

for (const arch of ["sm_80", "sm_90a"]) {
  nvccTest(`compile() builds the instruments for ${arch}`, async (folder) => {
    const compiler = backend.compiler(arch);
    match(compiler.signature, /^nvcc \d+\.\d+$/);
    const binary = `${folder}/instruments.cubin`;
    const log = await compiler.compile({
      source: backend.instruments,
      defines: {},
    }, binary);
    strictEqual(log, "");
    const bytes = await Deno.readFile(binary);
    strictEqual(new TextDecoder().decode(bytes.subarray(0, 4)), "\x7fELF");
    const text = new TextDecoder("latin1").decode(bytes);
    const readers = backend.readers!(arch).map(({ entry }) => entry);
    const own = ["empty", "filler", "read_flush", "load_only"];
    for (const entry of [...own, ...readers]) {
      ok(text.includes(`.text.${entry}\0`), entry);
    }
  });
}

nvccTest(
  "compile() finds headers beside the source and takes defines",
  async (folder) => {
    await Deno.writeTextFile(
      `${folder}/own.cuh`,
      "#include <cuda_bf16.h>\ntypedef __nv_bfloat16 type;\n",
    );
    const text =
      '#include "own.cuh"\nextern "C" __global__ void k(type *p) { p[N] = p[0]; }\n';
    await Deno.writeTextFile(`${folder}/k.cu`, text);
    const source = new URL(`file://${folder}/k.cu`);
    await backend.compiler("sm_90a").compile(
      { source, defines: { N: 3 } },
      `${folder}/k.cubin`,
    );
    ok((await Deno.stat(`${folder}/k.cubin`)).size > 0);
  },
);

nvccTest("compile() gives the compiler's first error", async (folder) => {
  await Deno.writeTextFile(
    `${folder}/bad.cu`,
    "\n__global__ void k() { x = 1; }\n",
  );
  const source = new URL(`file://${folder}/bad.cu`);
  const wrong = backend.compiler("sm_90a").compile(
    { source, defines: {} },
    `${folder}/k.cubin`,
  );
  await rejects(wrong, (error: unknown) => {
    ok(error instanceof CaseError);
    strictEqual(error.failure, "compile");
    strictEqual(error.message, 'bad.cu(2): error: identifier "x" is undefined');
    match(String(error.cause), /1 error detected/);
    return true;
  });
});

const HEADERS = fakeHost({}, [
  "/usr/local/cuda/include/cuda_fp16.h",
  "/usr/local/cuda/include/cccl/nv/target",
]);

/** Runs `test` with the mock compiler and a folder for its sources. */
function nvrtcTest(
  name: string,
  test: (compiler: Compiler, folder: string) => Promise<void>,
): void {
  ccTest(name, async () => {
    const nvrtc = build("libnvrtc.so.13", ["cuda/nvrtc.c"]);
    const compiler = cuda({ nvrtc: [nvrtc], host: HEADERS }).compiler("sm_90a");
    const folder = Deno.makeTempDirSync();
    try {
      await test(compiler, folder);
    } finally {
      Deno.removeSync(folder, { recursive: true });
    }
    const { symbols } = Deno.dlopen(nvrtc, {
      mock_living: { parameters: [], result: "i32" },
    });
    // A compilation that took too long frees its program when it ends.
    for (let i = 0; i < 600 && symbols.mock_living() > 0; i++) {
      await setTimeout(100);
    }
    strictEqual(symbols.mock_living(), 0, "a program was not given back");
  });
}

function write(path: string, text: string): URL {
  Deno.writeTextFileSync(path, text);
  return new URL(`file://${path}`);
}

nvrtcTest(
  "compile() passes the target, the folders and the defines",
  async (compiler, folder) => {
    strictEqual(compiler.signature, "nvrtc 13.7");
    const source = write(`${folder}/k.cu`, "void k() {}\n");
    const log = await compiler.compile({
      source,
      defines: { BM: 16, TYPE: "bf16" },
    }, `${folder}/k.cubin`);
    strictEqual(log, "fine\n");
    deepStrictEqual(Deno.readTextFileSync(`${folder}/k.cubin`).split("\n"), [
      "--gpu-architecture=sm_90a",
      "-default-device",
      "-std=c++17",
      `-I${folder}/`,
      "-I/usr/local/cuda/include",
      "-I/usr/local/cuda/include/cccl",
      "-DBM=16",
      "-DTYPE=bf16",
      "void k() {}",
      "",
    ]);
  },
);

nvrtcTest(
  "compile() gives the first error as its message and the log as its cause",
  async (compiler, folder) => {
    const source = write(`${folder}/bad.cu`, "#error\n");
    await rejects(
      compiler.compile({ source, defines: {} }, `${folder}/k`),
      (error: unknown) => {
        ok(error instanceof CaseError);
        strictEqual(error.failure, "compile");
        strictEqual(
          error.message,
          'bad.cu(3): error: identifier "x" is undefined',
        );
        match(String(error.cause), /warning #1: odd[^]*1 error\n$/);
        return true;
      },
    );
  },
);

nvrtcTest(
  "compile() names the call where the compiler refuses its options",
  async (compiler, folder) => {
    const source = write(`${folder}/k.cu`, "");
    const wrong = compiler.compile(
      { source, defines: { A: "compute_banana" } },
      `${folder}/k`,
    );
    await rejects(
      wrong,
      /^CaseError: nvrtcCompileProgram: NVRTC_ERROR_INVALID_OPTION \(5\)$/,
    );
  },
);

nvrtcTest(
  "compile() gives up one that does not end, and drops what comes of it",
  async (_, folder) => {
    const rtc = openNvrtc(build("libnvrtc.so.13", []));
    const limits = { tool: "nvrtc", options: [], includes: [], limitMs: 200 };
    const compiler = rtcCompiler(rtc, limits);
    const source = write(`${folder}/k.cu`, "// slow\n");
    await rejects(
      compiler.compile({ source, defines: {} }, `${folder}/gone/k`),
      {
        failure: "compile",
        message: /^nvrtc did not end within 0\.2 s; it goes on until/,
      },
    );
  },
);

nvrtcTest(
  "compile() runs beside other compilations",
  async (compiler, folder) => {
    const sources = ["a", "b", "c"].map((name) =>
      write(`${folder}/${name}.cu`, `// ${name}\n`)
    );
    await Promise.all(
      sources.map((source, i) =>
        compiler.compile({ source, defines: { I: i } }, `${folder}/${i}`)
      ),
    );
    for (const [i, name] of ["a", "b", "c"].entries()) {
      const text = Deno.readTextFileSync(`${folder}/${i}`);
      ok(text.endsWith(`-DI=${i}\n// ${name}\n`), text);
    }
    const path = build("libnvrtc.so.13", []);
    const { symbols } = Deno.dlopen(path, {
      mock_most: { parameters: [], result: "i32" },
    });
    ok(symbols.mock_most() > 1, `${symbols.mock_most()} at once`);
  },
);

nvrtcTest(
  "compile() passes a build's own flags and folders",
  async (compiler, folder) => {
    const source = write(`${folder}/k.cu`, "");
    await compiler.compile({
      source,
      defines: { N: 1 },
      flags: ["-lineinfo"],
      includes: [new URL(`file://${folder}/more/`)],
    }, `${folder}/k`);
    deepStrictEqual(
      Deno.readTextFileSync(`${folder}/k`).trimEnd().split("\n").slice(2),
      [
        ...["-std=c++17", "-lineinfo", `-I${folder}/`, `-I${folder}/more/`],
        ...["-I/usr/local/cuda/include", "-I/usr/local/cuda/include/cccl"],
        "-DN=1",
      ],
    );
  },
);

ccTest("cudaCompiler() takes the one that is asked for, and no other", () => {
  const path = build("libnvrtc.so.13", ["cuda/nvrtc.c"]);
  const nvrtc = { value: openNvrtc(path), path };
  const by = (chosen?: string) =>
    cudaCompiler(nvrtc, cudaTarget("sm_90a"), HEADERS, chosen).signature;
  strictEqual(by(), "nvrtc 13.7");
  strictEqual(by("nvrtc"), "nvrtc 13.7");
  for (
    const [chosen, why] of [
      ["nvcc", /no NVRTC \(another compiler was asked for\) and no nvcc \(/],
      ["/no/nvcc", /^Cannot compile for CUDA by \/no\/nvcc: it does not run/],
      ["gcc", /by gcc: name nvrtc, nvcc or the path of an nvcc/],
    ] as const
  ) {
    throws(() => by(chosen), { failure: "compile", message: why });
  }
});

Deno.test("cudaCompiler() takes the nvcc of a path, and no nvcc in the place of NVRTC", async () => {
  const folder = await Deno.makeTempDir();
  try {
    const nvcc = write(
      `${folder}/nvcc`,
      '#!/bin/sh\n[ "$1" = --version ] && echo release 99.1 && exit\necho by this one >&2; exit 1\n',
    );
    Deno.chmodSync(nvcc, 0o755);
    const none = { reason: "not looked for" };
    const by = (chosen: string) =>
      cudaCompiler(none, cudaTarget("sm_90a"), HEADERS, chosen);
    const source = write(`${folder}/k.cu`, "");
    await rejects(
      () => by(nvcc.pathname).compile({ source, defines: {} }, `${folder}/k`),
      /by this one/,
    );
    throws(() => by("nvrtc"), {
      failure: "compile",
      message: /no NVRTC \(not/,
    });
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
});

nvccTest("compile() by nvcc takes own flags and folders", async (folder) => {
  Deno.mkdirSync(`${folder}/more`);
  write(`${folder}/more/own.cuh`, "#define OWN 1\n");
  const source = write(
    `${folder}/k.cu`,
    '#include <own.cuh>\nextern "C" __global__ void k(int *p) { *p = OWN + MORE; }\n',
  );
  const includes = [new URL(`file://${folder}/more`)];
  const flags = ["-DMORE=1", "-std=c++20"];
  const log = await cuda({ nvrtc: [] })
    .compiler("sm_90a", { source, compiler: nvcc! })
    .compile({ source, defines: {}, includes, flags }, `${folder}/k`);
  match(log, /^$|-std|'std'/);
});

/** Builds an NVRTC that needs the library `builtins`, which nothing but its soname tells. */
function needing(builtins: string): string {
  const flag = `-DBUILTINS="${builtins}"`;
  return build(`${builtins}/libnvrtc.so.13`, ["cuda/nvrtc.c"], [flag]);
}

ccTest(
  "openWorkingNvrtc() opens the built-in functions beside the library",
  async () => {
    const builtins = "libnvrtc-builtins.so.13.7";
    const path = needing(builtins);
    build(`${builtins}/${builtins}`, [], [`-Wl,-soname,${builtins}`]);
    const nvrtc = { value: openWorkingNvrtc(path, thisHost), path };
    const compiler = cudaCompiler(nvrtc, cudaTarget("sm_90a"), HEADERS);
    const folder = path.slice(0, path.lastIndexOf("/"));
    const source = write(`${folder}/k.cu`, "void k() {}\n");
    strictEqual(
      await compiler.compile({ source, defines: {} }, `${folder}/k`),
      "fine\n",
    );
  },
);

ccTest("openWorkingNvrtc() refuses a library that compiles nothing", () => {
  const path = needing("libnvrtc-builtins.so.none");
  const opened = openFirst([path], (path) => openWorkingNvrtc(path, thisHost));
  ok("reason" in opened);
  match(
    opened.reason,
    /^tried \S+\/libnvrtc\.so\.13 \(nvrtc: error: failed to open libnvrtc-builtins\.so\.none\.\)$/,
  );
});

Deno.test("cudaIncludes() finds CCCL in its folder, and not by its part beside", () => {
  const root = "/usr/local/cuda/include";
  const headers = [`${root}/cuda_fp16.h`, `${root}/nv/target`];
  const found = (...more: string[]) =>
    cudaIncludes("libnvrtc.so.13", fakeHost({}, [...headers, ...more]));
  deepStrictEqual(found().includes, [root]);
  deepStrictEqual(found(`${root}/cccl/nv/target`).includes, [
    root,
    `${root}/cccl`,
  ]);
});

Deno.test("cudaIncludes() prefers the headers beside the library", () => {
  const wheel = "/v/lib/python3.12/site-packages/nvidia/cu13";
  const host = fakeHost({ PATH: "/v/bin" }, [
    "/v/bin/python3",
    "/usr/local/cuda/include/cuda_fp16.h",
    "/usr/local/cuda/include/nv/target",
    `${wheel}/include/cuda_fp16.h`,
    `${wheel}/include/cccl/nv/target`,
  ]);
  deepStrictEqual(cudaIncludes(`${wheel}/lib/libnvrtc.so.13`, host), {
    includes: [`${wheel}/include`, `${wheel}/include/cccl`],
    complete: true,
  });
  deepStrictEqual(cudaIncludes("libnvrtc.so.13", host), {
    includes: ["/usr/local/cuda/include"],
    complete: true,
  });
  deepStrictEqual(cudaIncludes("libnvrtc.so.13", fakeHost({}, [])), {
    includes: [],
    complete: false,
  });
});
