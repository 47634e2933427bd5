import {
  deepStrictEqual,
  match,
  strictEqual,
  throws,
} from "node:assert/strict";
import { f32, i32, i64, mem } from "../../bench/device/queue.ts";
import { EXIT } from "../../bench/model/errors.ts";
import { archIn, hip } from "./hip.ts";
import { cxxTest, fakeHost } from "../testdata/mocks.ts";
import { conformanceTests } from "../testdata/emulated.ts";
import {
  compileHip,
  emulatedHip,
  hipControls,
  hipPath,
  hipTest,
} from "../testdata/hip_mocks.ts";
import { failure } from "../testdata/mock_device.ts";
import { llvmTool } from "../testdata/code_object.ts";

const NOWHERE = {
  driver: ["libnothing.so.7"],
  smi: [],
  host: fakeHost({}, []),
};

Deno.test("find() says what was tried where there is no runtime", () => {
  const { devices, reason } = hip(NOWHERE).find();
  deepStrictEqual(devices, []);
  match(
    reason,
    /^no HIP runtime: tried libnothing\.so\.7; install ROCm, or give the container/,
  );
});

Deno.test("open() without a runtime is a message, not a row", () => {
  const info = {
    index: 0,
    name: "GPU",
    arch: "gfx942",
    units: 1,
    cacheBytes: 1,
    flushBytes: 1,
    sharedBytes: 1,
    driver: "1",
  };
  throws(() => hip(NOWHERE).open(info), {
    name: "UserError",
    code: EXIT.nothing,
    message: "Cannot open HIP device 0: no HIP runtime: tried libnothing.so.7",
  });
});

cxxTest("find() describes each device", () => {
  const mock = hipControls();
  mock.reset();
  mock.devices(2);
  const { devices, reason } = hip({ driver: [hipPath()], smi: [] }).find();
  strictEqual(reason, "");
  deepStrictEqual(devices[1], {
    index: 1,
    name: "emulator gfx942",
    uuid: "GPU-0000000000000029",
    arch: "gfx942",
    units: 304,
    cacheBytes: 256 * 2 ** 20,
    flushBytes: 512 * 2 ** 20,
    sharedBytes: 64 * 1024,
    driver: "6.4.43482",
  });
});

cxxTest("find() passes on why the runtime does not start", () => {
  const mock = hipControls();
  mock.reset();
  mock.fault("hipInit", 100);
  const backend = emulatedHip();
  match(
    backend.find().reason,
    /libamdhip64\.so\.7: hipInit: hipErrorNoDevice \(100\): no ROCm-capable device is detected; install/,
  );
  strictEqual(backend.find().devices.length, 1);
  mock.devices(0);
  match(backend.find().reason, /libamdhip64\.so\.7 has no devices; install/);
});

Deno.test("archIn() takes the last text that looks like one", () => {
  const bytes = new Uint8Array(600);
  new TextEncoder().encodeInto("AMD gfx0000 card", bytes);
  new TextEncoder().encodeInto("gfx90a:sramecc+:xnack-", bytes.subarray(300));
  strictEqual(archIn(bytes), "gfx90a");
  throws(() => archIn(new Uint8Array(8)), /no architecture such as gfx942/);
});

Deno.test("compiler() without hipRTC and clang says what was tried", () => {
  const host = fakeHost({ PATH: "/bin" }, []);
  const backend = hip({ ...NOWHERE, hiprtc: ["/none/libhiprtc.so"], host });
  throws(() => backend.compiler("gfx942"), {
    failure: "compile",
    message:
      /^Cannot compile for HIP: no hipRTC \(tried \/none\/libhiprtc\.so\) and no clang \(tried PATH, \/opt\/rocm\/llvm\/bin\); install ROCm, or: apt-get install clang-19 lld-19$/,
  });
  throws(() => backend.compiler("gfx950"), {
    failure: "compile",
    message: /apt-get install clang-22 lld-22$/,
  });
});

conformanceTests("hip", emulatedHip, hipTest);

hipTest(
  "synchronize() tells late what a kernel did wrong",
  async (device, mock) => {
    using module = device.load(
      await compileHip(
        `KERNEL(64) void out(float* p) { p[thread_x() + 1] = 1; }`,
      ),
    );
    using memory = device.alloc(256);
    module.program("out").step([mem(memory)], {
      grid: [1, 1, 1],
      block: [64, 1, 1],
    })
      .enqueue();
    const error = failure(() => device.synchronize());
    strictEqual(error.failure, "launch");
    match(
      error.message,
      /^hipStreamSynchronize: hipErrorLaunchFailure \(719\): unspecified launch failure: thread 63 of block 0 at k\.hip:\d+: writes 4 bytes at/,
    );
    match(failure(() => device.alloc(4)).message, /hipErrorLaunchFailure/);
    mock.reset();
  },
);

hipTest("alloc() and step() pass on injected faults", async (device, mock) => {
  mock.fault("hipMalloc", 2);
  strictEqual(failure(() => device.alloc(8)).failure, "oom");
  using module = device.load(
    await compileHip(`KERNEL(64) void none(int n, float x, long long y) {}`),
  );
  const step = module.program("none").step([i32(1), f32(2), i64(3)], {
    grid: [1, 1, 1],
    block: [64, 1, 1],
    sharedBytes: 65536,
  });
  step.enqueue();
  device.synchronize();
  mock.fault("hipModuleLaunchKernel", 719);
  match(failure(() => step.enqueue()).message, /^Cannot launch none with grid/);
  mock.reset();
  const large = module.program("none").step([i32(1), f32(2), i64(3)], {
    grid: [1, 1, 1],
    block: [64, 1, 1],
    sharedBytes: 65537,
  });
  match(failure(() => large.enqueue()).message, /hipErrorInvalidValue/);
});

cxxTest(
  "find() reads the architecture where properties have their old layout",
  () => {
    const backend = hip({ driver: [hipPath({ old: true })], smi: [] });
    strictEqual(backend.find().devices[0]!.arch, "gfx942");
  },
);

const noClang = llvmTool("clang") === undefined;
Deno.test(
  `compiler() takes a clang that knows the architecture where hipRTC is missing${
    noClang ? " (ignored: no clang)" : ""
  }`,
  { ignore: noClang },
  () => {
    match(hip({ hiprtc: [] }).compiler("gfx942").signature, /^(amd)?clang/);
    throws(() => hip({ hiprtc: [] }).compiler("gfx999"), {
      failure: "compile",
      message: /no clang that knows gfx999 \(tried .*clang/,
    });
  },
);

Deno.test("hip takes the compiler that a kernel asks for, and no other", () => {
  const by = (compiler: string) =>
    hip({ ...NOWHERE, hiprtc: ["/none/libhiprtc.so"] })
      .compiler("gfx942", { source: new URL("file:///k.hip"), compiler });
  for (
    const [compiler, why] of [
      ["no-clang", /by no-clang: it is no clang that knows gfx942; name/],
      ["hiprtc", /by hiprtc: it is not here; name/],
    ] as const
  ) throws(() => by(compiler), { failure: "compile", message: why });
});
