import { deepStrictEqual } from "node:assert/strict";
import type { Backend, DeviceInfo } from "../bench/device.ts";
import { CaseError } from "../bench/errors.ts";
import { examine } from "./parts.ts";

const INFO: DeviceInfo = {
  index: 0,
  name: "NVIDIA H200",
  arch: "sm_90a",
  units: 132,
  cacheBytes: 0,
  flushBytes: 0,
  sharedBytes: 0,
  driver: "580",
};

function cuda(parts: Partial<Backend>): Backend {
  const none = () => {
    throw new CaseError("compile", "No compiler: tried nvcc\nand others");
  };
  return {
    name: "cuda",
    find: () => ({ devices: [INFO], reason: "" }),
    target: none,
    compiler: none,
    open: none,
    instruments: new URL("file:///none"),
    ...parts,
  };
}

function lines(backend: Backend): string[] {
  return examine(backend).map(({ what, ok, detail }) =>
    `${ok ? "PASS" : "FAIL"} ${what}: ${detail}`
  );
}

Deno.test("examine() says why each part of a backend does not work", () => {
  deepStrictEqual(lines(cuda({})), [
    "PASS cuda: NVIDIA H200 (sm_90a, driver 580)",
    "FAIL cuda NVRTC or nvcc: No compiler: tried nvcc",
    "FAIL cuda cuBLAS: No compiler: tried nvcc",
    "FAIL cuda cuBLASLt: No compiler: tried nvcc",
    "FAIL cuda NVML: No compiler: tried nvcc",
  ]);
});

Deno.test("examine() looks for no library without a device, but for a compiler", () => {
  const backend = cuda({
    find: () => ({ devices: [], reason: "no driver" }),
    compiler: (arch) => ({
      signature: `nvrtc for ${arch}`,
      compile: () => Promise.resolve(""),
    }),
  });
  deepStrictEqual(lines(backend), [
    "FAIL cuda: no driver",
    "PASS cuda NVRTC or nvcc: nvrtc for sm_90a",
    "FAIL cuda cuBLAS: not looked for, as there is no device",
    "FAIL cuda cuBLASLt: not looked for, as there is no device",
    "FAIL cuda NVML: not looked for, as there is no device",
  ]);
});
