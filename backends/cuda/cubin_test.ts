import { assert, assertEquals } from "@std/assert";
import { temporary } from "../../bench/testdata/temporary.ts";
import { needsOf } from "./cubin.ts";

/** The first kernel has an array that is indexed at run time, the second too few registers. */
const SOURCE = `
extern "C" __global__ void array(const float* a, float* b, int n) {
  float v[80];
  for (int i = 0; i < 80; i++) v[i] = a[i * n + threadIdx.x];
  b[threadIdx.x] = v[n % 80];
}
extern "C" __global__ void __launch_bounds__(1024, 2)
spills(const float* a, float* b, int n) {
  float v[60];
  #pragma unroll
  for (int i = 0; i < 60; i++) v[i] = a[i * n + threadIdx.x];
  __syncthreads();
  #pragma unroll
  for (int i = 0; i < 60; i++) b[i * 7 + threadIdx.x] = v[i] * v[(i * 31) % 60];
}`;

const nvcc = await new Deno.Command("nvcc", { args: ["--version"] }).output()
  .then(({ success }) => success, () => false);

Deno.test({
  name: "needsOf() reads what ptxas prints, and nothing of a torn cubin",
  ignore: !nvcc,
  async fn() {
    using folder = temporary();
    const [source, binary] = ["a.cu", "a.cubin"].map((name) =>
      `${folder.path}/${name}`
    );
    Deno.writeTextFileSync(source!, SOURCE);
    const { success, stderr } = await new Deno.Command("nvcc", {
      args: ["-arch=sm_90a", "-cubin", "-Xptxas=-v", source!, "-o", binary!],
    }).output();
    const log = new TextDecoder().decode(stderr);
    assert(success, log);
    const printed = log.split("Compiling entry function '").slice(1)
      .map((part) => ({
        name: /^\w+/.exec(part)![0],
        registers: Number(/Used (\d+) registers/.exec(part)![1]),
        stackBytes: Number(/(\d+) bytes stack frame/.exec(part)![1]),
      }));
    const byName = (a: { name: string }, b: { name: string }) =>
      a.name < b.name ? -1 : 1;
    const bytes = Deno.readFileSync(binary!);
    const found = needsOf(bytes).toSorted(byName);
    assertEquals(found, printed.toSorted(byName));
    assert(found.every(({ stackBytes }) => stackBytes > 0));
    // Its table of sections is at the end.
    assertEquals(needsOf(bytes.subarray(0, bytes.length / 2)), []);
  },
});

Deno.test("needsOf() finds nothing in what is no cubin", () => {
  assertEquals(needsOf(new Uint8Array()), []);
  assertEquals(needsOf(new TextEncoder().encode("// PTX")), []);
  assertEquals(needsOf(Uint8Array.of(0x7f, 0x45, 0x4c, 0x46, 2, 1)), []);
});
