import {
  assertEquals,
  assertMatch,
  assertNotEquals,
  assertRejects,
} from "@std/assert";
import { pathToFileURL } from "node:url";
import { BinaryCache } from "../../bench/device/binary_cache.ts";
import { CaseError } from "../../bench/model/errors.ts";
import { temporary } from "../../bench/testdata/temporary.ts";
import { cuda } from "./cuda.ts";
import { smOf } from "./cubin.ts";

/** The header of a cubin for `sm`, as CUDA 13 writes it, or older releases. */
function cubin(sm: number, isOld = false): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(80);
  bytes.set([0x7f, 0x45, 0x4c, 0x46, 2, 1, 1, 0x41, isOld ? 7 : 8]);
  bytes[18] = 190;
  bytes.set(isOld ? [sm, 5, sm, 0] : [2, sm, 0, 6], 48);
  return bytes;
}

/** No compiler is needed. */
const backend = cuda({
  nvrtc: [],
  host: { env: () => undefined, list: () => [], link: () => undefined },
});

Deno.test("givenCompiler() takes PTX and cubins that the device can run, without a compiler", async () => {
  using folder = temporary();
  using cache = new BinaryCache(`${folder.path}/cache`);
  const get = async (name: string, bytes: Uint8Array, arch = "sm_90a") => {
    const path = `${folder.path}/${name}`;
    Deno.writeFileSync(path, bytes);
    const build = { source: pathToFileURL(path), defines: {} };
    const { path: binary, compiler } = await cache.get(build, backend, arch);
    return { bytes: Deno.readFileSync(binary), compiler };
  };
  const ptx = (target: string) =>
    new TextEncoder().encode(
      `.version 8.0\n.target ${target}\n.address_size 64\n`,
    );
  for (const [i, target] of ["sm_52", "sm_80", "sm_90", "sm_90a"].entries()) {
    const found = await get(`${i}.ptx`, ptx(target));
    assertEquals(found, {
      bytes: new Uint8Array([...ptx(target), 0]),
      compiler: "given ptx",
    });
  }
  const own = await get("90.cubin", cubin(90));
  assertEquals(own, { bytes: cubin(90), compiler: "given cubin" });
  await get("86.cubin", cubin(80, true), "sm_86");
  await get("f.ptx", ptx("sm_100f"), "sm_103a");
  const refused: readonly [string, Uint8Array, RegExp][] = [
    [
      "a.cubin",
      cubin(80),
      /^Cannot load a.cubin: it is for sm_80, and the device is sm_90a; compile it for sm_90a$/,
    ],
    ["b.cubin", cubin(100, true), /it is for sm_100, and/],
    ["c.cubin", ptx("sm_91"), /c.cubin: it is no cubin; name what ptxas/],
    ["d.cubin", new Uint8Array(0), /it is no cubin/],
    ["e.ptx", ptx("sm_100"), /it is for sm_100, and the device is sm_90a/],
    ["g.ptx", ptx("sm_80a"), /it is for sm_80a, and/],
    ["h.ptx", cubin(90), /it is no PTX: it has no line .target/],
  ];
  for (const [name, bytes, why] of refused) {
    const error = await assertRejects(
      () => get(name, bytes),
      CaseError,
      "",
      name,
    );
    assertMatch(error.message, why);
    assertEquals(error.failure, "compile");
  }
});

Deno.test("BinaryCache.sourceHash() tells cubins apart by any byte", () => {
  using folder = temporary();
  const hashes = [0x81, 0x82].map((byte) => {
    const path = `${folder.path}/a${byte}.cubin`;
    Deno.writeFileSync(path, new Uint8Array([0x7f, byte]));
    using cache = new BinaryCache(folder.path);
    return cache.sourceHash(
      { source: pathToFileURL(path), defines: {} },
      backend,
      "sm_90a",
    );
  });
  assertNotEquals(hashes[0], hashes[1]);
});

const nvcc = await new Deno.Command("nvcc", { args: ["--version"] }).output()
  .then(({ success }) => success, () => false);

Deno.test({
  name: "smOf() reads the architecture that ptxas writes (needs nvcc)",
  ignore: !nvcc,
  async fn() {
    using folder = temporary();
    for (const sm of [80, 90]) {
      const binary = `${folder.path}/${sm}.cubin`;
      const source = new URL("../../examples/ptx/matmul.ptx", import.meta.url);
      const { success } = await new Deno.Command("nvcc", {
        args: [`-arch=sm_${sm}`, "-cubin", source.pathname, "-o", binary],
      }).output();
      assertEquals([success, smOf(Deno.readFileSync(binary))], [true, sm]);
    }
  },
});
