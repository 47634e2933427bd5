import {
  assertEquals,
  assertMatch,
  assertNotEquals,
  assertRejects,
} from "@std/assert";
import {
  deepStrictEqual,
  match,
  ok,
  strictEqual,
  throws,
} from "node:assert/strict";
import { pathToFileURL } from "node:url";
import { BinaryCache } from "../../bench/device/binary_cache.ts";
import { CaseError, EXIT, UserError } from "../../bench/model/errors.ts";
import { temporary } from "../../bench/testdata/temporary.ts";
import {
  ccTest,
  driverControls,
  driverPath,
  fakeHost,
} from "../testdata/mocks.ts";
import { smOf } from "./cubin.ts";
import { archOf, cuda } from "./cuda.ts";

Deno.test("archOf() adds a where the architecture has instructions of its own", () => {
  const pairs = [[7, 5], [8, 0], [8, 9], [9, 0], [10, 0], [10, 1], [10, 3], [
    12,
    0,
  ], [12, 1]] as const;
  deepStrictEqual(pairs.map(([major, minor]) => archOf(major, minor)), [
    ...["sm_75", "sm_80", "sm_89", "sm_90a", "sm_100a", "sm_101"],
    ...["sm_103a", "sm_120a", "sm_121a"],
  ]);
});

Deno.test("find() says what was tried where there is no driver", () => {
  const { devices, reason } = cuda({ driver: ["libnothing.so.1"] }).find();
  deepStrictEqual(devices, []);
  match(
    reason,
    /^no CUDA driver: tried libnothing\.so\.1; install NVIDIA's driver, or give/,
  );
});

Deno.test("open() without a driver is a message, not a row", () => {
  const info = {
    index: 0,
    name: "GPU",
    arch: "sm_90a",
    units: 1,
    cacheBytes: 1,
    flushBytes: 1,
    sharedBytes: 1,
    driver: "1",
  };
  try {
    cuda({ driver: ["libnothing.so.1"] }).open(info);
  } catch (error) {
    ok(error instanceof UserError);
    strictEqual(error.code, EXIT.nothing);
    match(
      error.message,
      /^Cannot open CUDA device 0: no CUDA driver: tried libnothing\.so\.1$/,
    );
    return;
  }
  throw new Error("it did not fail");
});

ccTest("find() describes each device", () => {
  const mock = driverControls();
  mock.reset();
  mock.devices(2);
  const { devices, reason } = cuda({ driver: [driverPath()], nvml: [] }).find();
  strictEqual(reason, "");
  deepStrictEqual(devices.map(({ index }) => index), [0, 1]);
  deepStrictEqual(devices[1], {
    index: 1,
    name: "Mock GPU",
    uuid: "GPU-abababab-abab-abab-abab-ababababab29",
    arch: "sm_90a",
    units: 132,
    cacheBytes: 60 * 2 ** 20,
    flushBytes: 256 * 2 ** 20,
    sharedBytes: 227 * 1024,
    tensorMaps: true,
    overlaps: true,
    driver: "13.0",
  });
});

ccTest(
  "find() passes on why the driver does not start, and looks again",
  () => {
    const mock = driverControls();
    mock.reset();
    mock.fault("cuInit", 100);
    const backend = cuda({ driver: [driverPath()], nvml: [] });
    const { devices, reason } = backend.find();
    deepStrictEqual(devices, []);
    match(
      reason,
      /libcuda\.so\.1: cuInit: CUDA_ERROR_NO_DEVICE \(100\): no CUDA-capable device is detected; /,
    );
    strictEqual(backend.find().devices.length, 1);
  },
);

ccTest(
  "find() has a reason for a driver without devices and for a lost device",
  () => {
    const mock = driverControls();
    mock.reset();
    mock.devices(0);
    const backend = cuda({ driver: [driverPath()], nvml: [] });
    match(backend.find().reason, /libcuda\.so\.1 has no devices; install/);
    mock.devices(1);
    mock.fault("cuDeviceGetAttribute", 999, 2);
    const { devices, reason } = backend.find();
    deepStrictEqual(devices, []);
    match(reason, /cuDeviceGetAttribute: status 999; /);
  },
);

ccTest("open() leaves telemetry out without the management library", () => {
  driverControls().reset();
  const backend = cuda({ driver: [driverPath()], nvml: ["libnothing.so"] });
  using device = backend.open(backend.find().devices[0]!);
  strictEqual("telemetry" in device, false);
});

ccTest("open() has no matrix library where none is found, and says why", () => {
  driverControls().reset();
  const backend = cuda({
    driver: [driverPath()],
    nvml: [],
    cublas: ["/none/libcublas.so.13"],
  });
  using device = backend.open(backend.find().devices[0]!);
  strictEqual(device.blas, undefined);
  match(
    device.blasReason!,
    /^No cuBLAS: tried \/none\/libcublas\.so\.13 \(\/none\/libcublasLt\.so\.13 is missing\); install the CUDA toolkit, or: pip install nvidia-cublas$/,
  );
});

Deno.test("compiler() without NVRTC and nvcc says what was tried and what helps", () => {
  const host = fakeHost({ PATH: "/bin" }, []);
  const backend = cuda({ nvrtc: ["/none/libnvrtc.so.13"], host });
  throws(() => backend.compiler("sm_90a"), (error: unknown) => {
    ok(error instanceof CaseError);
    strictEqual(error.failure, "compile");
    strictEqual(error.message.includes("\n"), false);
    match(
      error.message,
      /^Cannot compile for CUDA: no NVRTC \(tried \/none\/libnvrtc\.so\.13.*no nvcc \(tried PATH, \/usr\/local\/cuda\/bin\); install the CUDA toolkit, or: pip install/,
    );
    return true;
  });
});

Deno.test("target() needs nothing of the machine", () => {
  deepStrictEqual(cuda({ driver: ["libnothing.so"] }).target("sm_90a"), {
    arch: "sm_90a",
    extension: "cubin",
    flags: ["-std=c++17"],
  });
});

Deno.test("target() takes the flags that nvcc appends, for NVRTC too", () => {
  const before = Deno.env.get("NVCC_APPEND_FLAGS");
  try {
    Deno.env.set("NVCC_APPEND_FLAGS", " -lineinfo  -DN=1 ");
    deepStrictEqual(
      cuda({ driver: ["libnothing.so"] }).target("sm_90a").flags,
      ["-std=c++17", "-lineinfo", "-DN=1"],
    );
  } finally {
    if (before === undefined) Deno.env.delete("NVCC_APPEND_FLAGS");
    else Deno.env.set("NVCC_APPEND_FLAGS", before);
  }
});

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
