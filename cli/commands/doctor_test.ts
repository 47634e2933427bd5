import { assert, assertEquals, assertMatch } from "@std/assert";
import { allBackends } from "../../backends/mod.ts";
import { cxxTest } from "../../backends/testdata/mocks.ts";
import { emulatedMetal } from "../../backends/testdata/metal_mocks.ts";
import type {
  Backend,
  Compiler,
  DeviceInfo,
} from "../../bench/device/device.ts";
import { CaseError } from "../../bench/model/errors.ts";
import { within } from "../testdata/program.ts";
import { formatFinding, graded } from "./doctor.ts";
import {
  examine,
  type Machine,
  notForThis,
  thisMachine,
} from "./doctor/parts.ts";

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

/** A machine of which nothing can be told. */
const UNKNOWN: Machine = { os: "linux", devices: () => undefined };

const MAC: Machine = { ...UNKNOWN, os: "darwin" };

function lines(backend: Backend, machine = UNKNOWN): string[] {
  return examine(backend, machine).map(({ what, ok, skipped, detail }) =>
    `${ok ? "PASS" : skipped ? "SKIP" : "FAIL"} ${what}: ${detail}`
  );
}

Deno.test("examine() says why each part of a backend does not work", () => {
  assertEquals(lines(cuda({})), [
    "PASS cuda: NVIDIA H200 (sm_90a, driver 580)",
    "FAIL cuda NVRTC or nvcc: No compiler: tried nvcc",
    "FAIL cuda cuBLAS: No compiler: tried nvcc",
    "FAIL cuda cuBLASLt: No compiler: tried nvcc",
    "FAIL cuda NVML: No compiler: tried nvcc",
  ]);
});

Deno.test("graded() fails on what bench needs, and warns of the rest", () => {
  const part = (what: string, ok: boolean, needed?: true) => ({
    what,
    ok,
    detail: "",
    fix: "",
    ...(needed && { needed }),
  });
  const levels = (gpu: boolean, ...others: readonly boolean[]) =>
    graded([
      part("cuda", gpu, true),
      part("cuda cuBLAS", false),
      part("hip", false, true),
      part("cpu", true, true),
      part("cpu C compiler", others[0] ?? true, true),
      { ...part("emulator", false), skipped: true },
    ], ["cuda", "hip", "cpu"]).map(({ level }) => level).join(" ");
  // A GPU that works: another one, or the CPU, may well be left alone.
  assertEquals(levels(true), "PASS WARN WARN PASS PASS SKIP");
  assertEquals(levels(true, false), "PASS WARN WARN PASS WARN SKIP");
  assertEquals(levels(false), "FAIL WARN FAIL PASS PASS SKIP");
  assertEquals(levels(false, false), "FAIL WARN FAIL PASS FAIL SKIP");
});

Deno.test("examine() says what moves times on a device, and how to end it", () => {
  const state = (found: readonly string[]) => {
    const { ok, detail, fix } = examine(
      cuda({ machine: () => found }),
      UNKNOWN,
    ).at(-1)!;
    return { ok, detail, fix };
  };
  assertEquals(state([]), {
    ok: true,
    detail: "nothing found that moves times",
    fix: "",
  });
  assertEquals(state(["processes=2", "persistence=off"]), {
    ok: false,
    detail: "processes=2, persistence=off",
    fix: "end the other processes on the GPU; nvidia-smi -pm 1",
  });
  // Nothing to fix: the figure is missing from rows.
  assertEquals(state(["no_instant_power"]).ok, true);
});

Deno.test("examine() looks for no library without a device, but for a compiler", () => {
  const backend = cuda({
    find: () => ({ devices: [], reason: "no driver" }),
    compiler: (arch) => ({
      signature: `nvrtc for ${arch}`,
      compile: () => Promise.resolve(""),
    }),
  });
  assertEquals(lines(backend), [
    "FAIL cuda: no driver",
    "PASS cuda NVRTC or nvcc: nvrtc for sm_90a",
    "SKIP cuda cuBLAS: not looked for, as there is no device",
    "SKIP cuda cuBLASLt: not looked for, as there is no device",
    "SKIP cuda NVML: not looked for, as there is no device",
  ]);
});

Deno.test("examine() says which GPU of AMD the compiler is too old for", () => {
  const compiler = (arch: string): Compiler => {
    if (arch === "gfx950") throw new Error("no clang that knows gfx950");
    return { signature: "clang-19 19.1.7", compile: () => Promise.resolve("") };
  };
  const find = () => ({ devices: [], reason: "no driver" });
  assertEquals(
    lines({ ...cuda({ find, compiler }), name: "hip" })[1],
    "PASS hip hipRTC or clang: clang-19 19.1.7, none for gfx950",
  );
});

Deno.test("examine() tells more than the device of every backend", async () => {
  for (const backend of await allBackends()) {
    const machine = backend.name === "metal" ? MAC : UNKNOWN;
    const whats = examine(backend, machine).map(({ what }) => what);
    assert(whats.length >= 3, `${whats}`);
    assert(whats.every((what) => what.startsWith(backend.name)), `${whats}`);
  }
});

Deno.test("examine() names the ways out of a machine without Metal", () => {
  const reason = "Metal is only on macOS, and this is linux";
  const backend = {
    ...cuda({
      find: () => ({ devices: [], reason }),
      compiler() {
        throw new CaseError("compile", `Cannot compile for Metal: ${reason}`);
      },
    }),
    name: "metal",
  };
  assertEquals(
    examine(backend, MAC).map(({ fix, ...finding }) => [
      finding.detail,
      fix,
    ]),
    [
      [reason, "run it on a Mac with Apple silicon and macOS 14 or newer"],
      [
        `Cannot compile for Metal: ${reason}`,
        "it comes with macOS 14, and Xcode is not needed",
      ],
      ["not looked for, as there is no device", ""],
    ],
  );
});

cxxTest("examine() tells an Apple GPU, its compiler and why no library", () => {
  const told = lines(emulatedMetal())
    .map((line) => line.replace(/emulator [0-9a-f]{16}/, "emulator HASH"));
  assertEquals(told, [
    "PASS metal: emulator applegpu_g15s (applegpu_g15s, driver emulator HASH)",
    "PASS metal compiler: Metal of macOS 15.1 (Build 24B83)",
    "PASS metal matrix library: mps emulator HASH",
  ]);
});

Deno.test("examine() says in a line what is not for this machine, and a compiler that is there", () => {
  const backend = cuda({
    find: () => ({ devices: [], reason: "no driver" }),
    compiler: (arch) => ({
      signature: `nvcc for ${arch}`,
      compile: () => Promise.resolve(""),
    }),
  });
  const bare = {
    ...UNKNOWN,
    devices: () => [{ vendor: "0x8086", kind: "0x060000" }],
  };
  assertEquals(lines(backend, bare), [
    "SKIP cuda: this machine has no NVIDIA GPU",
    "PASS cuda NVRTC or nvcc: nvcc for sm_90a",
  ]);
  assertEquals(lines({ ...backend, name: "metal" }), [
    "SKIP metal: Metal is for macOS, and this is linux",
    "PASS metal compiler: nvcc for applegpu_g13g",
  ]);
});

/** A machine on Linux with PCI devices of these vendors and classes. */
function linux(
  devices: readonly (readonly [vendor: string, kind: string])[] | undefined,
): Machine {
  return {
    os: "linux",
    devices: () => devices?.map(([vendor, kind]) => ({ vendor, kind })),
  };
}

const BRIDGE = ["0x1022", "0x060000"] as const;

Deno.test("notForThis() is of a machine without such a GPU", () => {
  const bare = linux([BRIDGE, ["0x1002", "0x040300"]]);
  assertMatch(notForThis("cuda", bare)!, /^this machine has no NVIDIA GPU$/);
  assertMatch(notForThis("hip", bare)!, /^this machine has no AMD GPU$/);
  assertEquals(notForThis("cpu", bare), undefined);
});

Deno.test("notForThis() is not of a GPU that is there, with a driver or without", () => {
  const h200 = linux([BRIDGE, ["0x10de", "0x030200"]]);
  assertEquals(notForThis("cuda", h200), undefined);
  assertMatch(notForThis("hip", h200)!, /no AMD GPU/);
  assertEquals(notForThis("hip", linux([["0x1002", "0x120000"]])), undefined);
});

Deno.test("notForThis() says nothing where nothing can be told", () => {
  assertEquals(notForThis("cuda", linux(undefined)), undefined);
});

Deno.test("thisMachine tells what is on its bus, if anything", () => {
  for (const { vendor, kind } of thisMachine.devices() ?? []) {
    assertMatch(vendor, /^0x[0-9a-f]{4}$/);
    assertMatch(kind, /^0x[0-9a-f]{6}$/);
  }
});

Deno.test("notForThis() is of another operating system", () => {
  const mac = { ...linux([]), os: "darwin" };
  assertEquals(notForThis("metal", mac), undefined);
  assertMatch(notForThis("cuda", mac)!, /not for macOS/);
  assertMatch(notForThis("metal", linux([]))!, /Metal is for macOS.*linux/);
});

Deno.test("formatFinding() names a way to fix once", () => {
  const fix = "apt-get install libopenblas0-pthread";
  const finding = {
    what: "cpu OpenBLAS",
    ok: false,
    level: "WARN" as const,
    detail: `No OpenBLAS: ${fix}; tried libopenblas.so`,
    fix,
  };
  assertEquals(formatFinding(finding), `WARN cpu OpenBLAS: ${finding.detail}`);
});

Deno.test("doctor says what works, in JSON if asked", () =>
  within(async (run) => {
    const { code, stdout } = await run("doctor");
    // A GPU that is there and does not work is a failure; one that is not there is none.
    const gpus = (state: string) =>
      new RegExp(`^${state} (cuda|hip|metal): `, "m").test(stdout);
    assertEquals(code, gpus("FAIL") && !gpus("PASS") ? 1 : 0);
    assertMatch(stdout, /^PASS cpu: /m);
    assertMatch(stdout, /^(PASS|FAIL|SKIP) cuda: /m);
    assertMatch(stdout, /^(PASS|FAIL|SKIP) peers torch: /m);
    if (Deno.build.os === "linux") {
      assertMatch(
        stdout,
        /^SKIP metal: Metal is for macOS, and this is linux$/m,
      );
    }
    const findings: { what: string; ok: boolean }[] = JSON.parse(
      (await run("doctor", "--json")).stdout,
    );
    assertEquals(findings.find(({ what }) => what === "cpu")?.ok, true);
  }));
