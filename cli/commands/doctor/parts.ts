/**
 * Examines the parts of each backend: device, compiler, libraries, telemetry.
 *
 * @module
 */

import { cpuSystem } from "../../../backends/cpu/system.ts";
import {
  ProgramError,
  runProgramSync,
} from "../../../bench/files/run_program.ts";
import type {
  Backend,
  Device,
  DeviceInfo,
} from "../../../bench/device/device.ts";

/** Something that works, or does not. */
export interface Finding {
  /** e.g. `cuda NVML`. */
  readonly what: string;
  readonly ok: boolean;
  /** True for a part that this machine does not need. */
  readonly skipped?: true;
  /** True for a device, and for the compiler of its kernels: without them nothing is measured. */
  readonly needed?: true;
  /** The part that was found, or the reason why it does not work. */
  readonly detail: string;
  /** The way to fix it; empty where none is known. */
  readonly fix: string;
}

/** A part of a backend beside its devices. */
interface Part {
  readonly needed?: true;
  readonly what: string;
  readonly fix: string;
}

/** The parts that a backend may have, by what of the contract they stand behind. */
interface Parts {
  /** The architecture to build for where there is no device, and others that need a newer compiler. */
  readonly arch: string;
  readonly newer?: readonly string[];
  readonly fix: string;
  readonly compiler: Part;
  readonly blas: Part;
  readonly fused?: Part;
  readonly telemetry?: Part;
}

/** The parts of each backend. For one that is not here, only its device is shown. */
const PARTS: Readonly<Record<string, Parts>> = {
  cuda: {
    arch: "sm_90a",
    fix:
      "nvidia-smi must list the GPU; in a container, start it with --gpus all",
    compiler: { what: "NVRTC or nvcc", fix: "pip install nvidia-cuda-nvrtc" },
    blas: { what: "cuBLAS", fix: "pip install nvidia-cublas" },
    fused: { what: "cuBLASLt", fix: "pip install nvidia-cublas" },
    telemetry: { what: "NVML", fix: "it comes with NVIDIA's driver" },
  },
  hip: {
    arch: "gfx942",
    newer: ["gfx950"],
    fix:
      "rocminfo must list the GPU, for a user in the groups render and video",
    compiler: {
      what: "hipRTC or clang",
      fix:
        "apt-get install hip-runtime-amd, or clang-22 and lld-22 (19 without gfx950)",
    },
    blas: { what: "hipBLAS", fix: "apt-get install hipblas" },
    fused: { what: "hipBLASLt", fix: "apt-get install hipblaslt" },
    telemetry: { what: "rocm-smi", fix: "apt-get install rocm-smi-lib" },
  },
  // What Metal tells of clocks and power needs an administrator: no part of it is telemetry.
  metal: {
    arch: "applegpu_g13g",
    fix: "run it on a Mac with Apple silicon and macOS 14 or newer",
    compiler: {
      what: "compiler",
      fix: "it comes with macOS 14, and Xcode is not needed",
    },
    blas: {
      what: "matrix library",
      fix:
        "nothing to install: tables compare with the kernels product and mlx",
    },
  },
  cpu: {
    arch: Deno.build.arch,
    fix: "",
    compiler: { what: "C compiler", fix: cpuSystem().install.compiler },
    blas: { what: "OpenBLAS", fix: cpuSystem().install.openblas },
  },
};

/**
 * Examines the parts of `backend`, its device first, which it opens and closes. Of a backend
 * that is not for `machine`, only the compiler is examined: it builds for other machines.
 */
export function examine(
  backend: Backend,
  machine: Machine = thisMachine,
): readonly Finding[] {
  const { devices, reason } = backend.find();
  const parts = PARTS[backend.name];
  const info = devices[0];
  const elsewhere = info === undefined
    ? notForThis(backend.name, machine)
    : undefined;
  if (elsewhere !== undefined) return absent(backend, elsewhere);
  const device: Finding = {
    what: backend.name,
    needed: true,
    ok: info !== undefined,
    detail: info === undefined ? reason : devices.map(describe).join(", "),
    fix: parts?.fix ?? "",
  };
  if (parts === undefined) return [device];
  const name = (part: Part) => `${backend.name} ${part.what}`;
  const compiler = attempt(
    { ...parts.compiler, what: name(parts.compiler), needed: true },
    () => info ? backend.compiler(info.arch).signature : compilerOf(backend),
  );
  const { blas, fused, telemetry } = parts;
  const onDevice = [
    [blas, libraryOf] as const,
    ...(fused ? [[fused, fusedOf] as const] : []),
    ...(telemetry ? [[telemetry, telemetryOf] as const] : []),
  ];
  const rest = onDevice.map(([part, of]): Finding => {
    const what = name(part);
    if (info === undefined) {
      const detail = "not looked for, as there is no device";
      return { what, ok: false, skipped: true, detail, fix: "" };
    }
    return attempt({ ...part, what }, () => {
      using opened = backend.open(info);
      return of(opened);
    });
  });
  const quiet = info && backend.machine
    ? [examineQuiet(backend.name, backend.machine(info))]
    : [];
  return [device, compiler, ...rest, ...quiet];
}

/** Returns the compiler where there is no device, and what it cannot build for. */
function compilerOf(backend: Backend): string {
  const { arch, newer = [] } = PARTS[backend.name]!;
  const { signature } = backend.compiler(arch);
  const unknown = newer.filter((other) =>
    !attempt({ what: other, fix: "" }, () => backend.compiler(other).signature)
      .ok
  );
  return [signature, ...unknown.map((other) => `none for ${other}`)].join(", ");
}

/** How to fix what moves times, by the beginning of its finding. */
const QUIETER: Readonly<Record<string, string>> = {
  processes: "end the other processes on the GPU",
  mig: "nvidia-smi -mig 0",
  ecc: "nvidia-smi -e 1",
  power_cap: "nvidia-smi -pl with the default limit",
  persistence: "nvidia-smi -pm 1",
  load: "end what keeps the host busy",
  governor: "cpupower frequency-set -g performance",
};

/** A finding of what moves times on a device or the host called `name`. */
export function examineQuiet(
  name: string,
  disturbances: readonly string[],
): Finding {
  const fixes = disturbances.map((found) => QUIETER[found.split("=")[0]!])
    .filter((fix) => fix !== undefined);
  return {
    what: `${name} state`,
    ok: fixes.length === 0,
    detail: disturbances.join(", ") || "nothing found that moves times",
    fix: fixes.join("; "),
  };
}

/** Returns the findings for a backend that is not for this machine. */
function absent(backend: Backend, detail: string): readonly Finding[] {
  const { name } = backend;
  const parts = PARTS[name];
  const device: Finding = {
    what: name,
    ok: false,
    skipped: true,
    detail,
    fix: "",
  };
  if (parts === undefined) return [device];
  const compiler = attempt(
    { what: `${name} ${parts.compiler.what}`, fix: "" },
    () => compilerOf(backend),
  );
  return compiler.ok ? [device, compiler] : [device];
}

/** A finding from what `look` returns or throws. */
export function attempt(part: Part, look: () => string): Finding {
  try {
    return { ...part, ok: true, detail: look() };
  } catch (error) {
    const detail = error instanceof Error ? error.message : `${error}`;
    return { ...part, ok: false, detail: detail.split("\n")[0]! };
  }
}

function describe({ name, arch, driver }: DeviceInfo): string {
  return `${name} (${arch}, driver ${driver})`;
}

function libraryOf({ blas, blasReason }: Device): string {
  if (blas) return `${blas.name} ${blas.version}`;
  throw new Error(blasReason ?? "the device has none");
}

function fusedOf(device: Device): string {
  const library = libraryOf(device);
  if (device.blas?.fused) return `with ${library}`;
  throw new Error(`${library} was found without it`);
}

function telemetryOf(device: Device): string {
  const values = Object.entries(device.telemetry?.() ?? {});
  if (values.length > 0) return values.map((pair) => pair.join("=")).join(" ");
  throw new Error("it was not found, so rows will lack clocks and power");
}

/** A device of the PCI bus, as Linux writes its numbers. */
export interface PciDevice {
  readonly vendor: string;
  readonly kind: string;
}

/** The properties of a machine that decide which backends are for it. */
export interface Machine {
  readonly os: string;
  /** The devices of the PCI bus; undefined where they are unknown. */
  devices(): readonly PciDevice[] | undefined;
}

/** This machine. */
export const thisMachine: Machine = { os: Deno.build.os, devices: listed };

/** Lists vendor and class of each device; nothing under Windows, whose GPUs are not on it. */
const LIST = `[ -e /dev/dxg ] && exit
for d in /sys/bus/pci/devices/*; do echo $(cat $d/vendor $d/class); done`;

/** Lists them by a shell, as Deno reads below /sys with all permissions only. */
function listed(): readonly PciDevice[] | undefined {
  if (Deno.build.os !== "linux") return undefined;
  let text: string;
  try {
    const run = { args: ["-c", LIST], limitMs: 20_000 };
    text = runProgramSync("sh", run).stdout;
  } catch (error) {
    // Without a shell nothing is known.
    if (error instanceof ProgramError) return undefined;
    throw error;
  }
  const lines = text.split("\n").map((line) => line.split(" "))
    .filter(({ length }) => length === 2);
  if (lines.length === 0) return undefined;
  return lines.map(([vendor, kind]) => ({ vendor: vendor!, kind: kind! }));
}

/** PCI's classes of displays and of processing accelerators. */
const GPU_CLASSES = /^0x(03|12)/;
/** Vendors of GPUs by backend, and how PCI numbers them. */
const VENDORS: Readonly<Record<string, readonly [name: string, id: string]>> = {
  cuda: ["NVIDIA", "0x10de"],
  hip: ["AMD", "0x1002"],
};

/**
 * Returns the reason why `backend` is not for `machine`, such as another operating system;
 * undefined where it is, and where that is unknown.
 */
export function notForThis(
  backend: string,
  machine: Machine = thisMachine,
): string | undefined {
  const { os } = machine;
  if (backend === "metal") {
    return os === "darwin"
      ? undefined
      : `Metal is for macOS, and this is ${os}`;
  }
  const vendor = VENDORS[backend];
  if (vendor === undefined) return undefined;
  const [name, id] = vendor;
  if (os === "darwin") return "it is not for macOS";
  const isThere = machine.devices()?.some(({ vendor, kind }) =>
    vendor === id && GPU_CLASSES.test(kind)
  );
  return isThere === false ? `this machine has no ${name} GPU` : undefined;
}
