import { match, ok, rejects, strictEqual } from "node:assert/strict";
import { CaseError } from "../../bench/model/errors.ts";
import { cuda } from "./cuda.ts";
import { thisHost } from "../shared/find_library.ts";
import { findNvcc } from "./compiler.ts";
import { fakeHost } from "../testdata/mocks.ts";

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
    for (const entry of ["empty", "filler", "read_flush", "load_only"]) {
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
