/**
 * The lane emulator as a device: CUDA, HIP and Metal kernels on a CPU, which is looked at for
 * races, accesses out of bounds and values that were never written.
 *
 * @module
 */

import { basename, dirname, join } from "node:path";
import type {
  Backend,
  Compiler,
  DeviceInfo,
} from "../../bench/device/device.ts";
import { CaseError, EXIT, UserError } from "../../bench/model/errors.ts";
import type { EmulatedName } from "../../bench/model/settings.ts";
import { cuda } from "../cuda/cuda.ts";
import { hip } from "../hip/hip.ts";
import { metal } from "../metal/metal.ts";
import type { Host } from "../shared/find_library.ts";
import { type EmulatedApi, emulatedApi, emulatedArch } from "./names.ts";
import { fileURLToPath } from "node:url";
import { readIfThere, unlessMissing } from "../../bench/files/disk.ts";
import { hashOf } from "../../bench/files/hash.ts";
import { claimFolder, lockFile } from "../../bench/files/lock.ts";
import { privateFolder } from "../../bench/files/private_folder.ts";
import { runProgramSync } from "../../bench/files/run_program.ts";
import { askTool } from "../shared/compiler.ts";

const EMULATOR = fileURLToPath(new URL("../../emulator", import.meta.url));

/** C++ compilers, the preferred first. */
export const CXX = ["c++", "g++", "clang++"] as const;

const GPU = ["driver", "launch", "machine", "pages", "rtc"]
  .map((name) => `gpu/${name}.c`);
/** Each driver's file name, its sources below `emulator/driver/`, and its flags. */
const DRIVERS = {
  cuda: { file: "libcuda.so", own: GPU, defined: [] },
  hip: { file: "libamdhip64.so", own: GPU, defined: ["-DHIP"] },
  metal: {
    file: "libMetal.so",
    own: ["metal/objc.c", "metal/metal.c", "metal/queue.c", "metal/mps.c"],
    defined: ["-DMETAL"],
  },
} as const;

/** Options of a driver's build. */
interface LibraryOptions {
  /** The folder for drivers; each has a subfolder named after the hash of its inputs. */
  readonly folder: string;
  /** Paths of more C sources, and flags: what tests add. */
  readonly sources?: readonly string[];
  readonly flags?: readonly string[];
}

/** Before it, copies of memory were not instrumented: the emulator does not see them. */
const LEAST_CLANG = 16;

/** A C++ compiler of this machine. */
interface Cxx {
  readonly name: string;
  /** The first line that it tells of itself. */
  readonly version: string;
}

/**
 * The first C++ compiler of `names` that is here.
 *
 * @throws {UserError} Where there is none, or none would do: the emulator is for Linux.
 */
export function findCxx(
  names: readonly string[] = CXX,
  os: typeof Deno.build.os = Deno.build.os,
): Cxx {
  if (os !== "linux") {
    throw new UserError(
      `The lane emulator needs Linux, and this is ${os}: use a container or another machine`,
      EXIT.nothing,
    );
  }
  const tried: string[] = [];
  for (const name of names) {
    tried.push(name);
    const answer = askTool(name, ["--version"]);
    if (!answer?.success) continue;
    const version = answer.stdout.split("\n")[0]!;
    const [, clang = LEAST_CLANG] = /clang version (\d+)/.exec(version) ?? [];
    if (Number(clang) >= LEAST_CLANG) return { name, version };
    tried.push(`which is clang ${clang} and must be ${LEAST_CLANG} or newer`);
  }
  throw new UserError(
    `The lane emulator needs a C++ compiler: tried ${
      tried.join(", ")
    }; install one, as in apt-get install g++`,
    EXIT.nothing,
  );
}

/** Hash of the emulator's own sources. */
export function emulatorHash(): string {
  const named = (path: string) => [
    path.slice(EMULATOR.length),
    Deno.readTextFileSync(path),
  ];
  return hashOf(...sourcesBelow(EMULATOR).flatMap(named));
}

/**
 * The path of the driver of `api`, built where it is not there yet. Several processes may ask
 * at once: one builds it.
 *
 * @throws {UserError} Without a C++ compiler, or where it fails.
 */
export function emulatorLibrary(
  api: EmulatedApi,
  { folder, sources = [], flags = [] }: LibraryOptions,
): string {
  const cxx = findCxx();
  privateFolder(folder);
  const place = Deno.realPathSync(folder);
  // Paths are in the driver too.
  const entry = `${place}/emulator.${
    hashOf(emulatorHash(), cxx.name, cxx.version, EMULATOR, place)
  }`;
  privateFolder(entry);
  const general = [
    ...["-w", "-fPIC", "-U_FORTIFY_SOURCE", `-DEMULATOR="${EMULATOR}"`],
  ];
  const object = (source: string, level: string) =>
    buildOnce(
      `${entry}/${basename(source, ".cpp")}.o`,
      (to) => run(cxx, to, ["-c", ...general, level, `${EMULATOR}/${source}`]),
    );
  const { file, own, defined } = DRIVERS[api];
  const more = sources.map((path) => Deno.readTextFileSync(path));
  const added = more.length + flags.length === 0
    ? ""
    : `.${hashOf(...more, ...flags)}`;
  return buildOnce(`${entry}/${file}${added}`, (to) =>
    run(cxx, to, [
      ...["-shared", ...general, "-O2", ...defined, ...flags],
      `-DEMU_MODULE="${object("device/module.cpp", "-O1")}"`,
      `-DEMU_CXX="${cxx.name}"`,
      // A module that has a unique symbol of g++ is never unloaded. Shared variables, which are
      // thread-local here, have no constructors.
      `-DEMU_FLAGS="${
        /clang/.test(cxx.version) ? "" : "-fno-gnu-unique -fno-extern-tls-init"
      }"`,
      // Before each of them: g++ takes the next for C++ again.
      ...[...own.map((source) => `${EMULATOR}/driver/${source}`), ...sources]
        .flatMap((source) => ["-x", "c", source]),
      ...["-x", "none", object("emulator.cpp", "-O2")],
      ...["-ldl", "-lpthread"],
    ]));
}

/** Every source below `folder`, in one order everywhere. */
function sourcesBelow(folder: string): readonly string[] {
  return [...Deno.readDirSync(folder)]
    .toSorted((a, b) => a.name < b.name ? -1 : 1)
    .flatMap(({ name, isDirectory }) =>
      isDirectory
        ? sourcesBelow(`${folder}/${name}`)
        : /\.(c|cpp|h)$/.test(name)
        ? [`${folder}/${name}`]
        : []
    );
}

/** Has the compiler make the file `to`. @throws {UserError} With its first error, where it fails. */
function run(
  { name, version }: Cxx,
  to: string,
  args: readonly string[],
): void {
  const { success, stderr } = runProgramSync(name, {
    args: [...args, "-o", to],
    // What it leaves when it is killed is removed with the folder.
    env: { LC_ALL: "C", TMPDIR: dirname(to) },
    limitMs: 300_000,
  });
  if (success) return;
  const lines = stderr.split("\n");
  throw new UserError(
    `Cannot build the lane emulator by ${name} (${version}): ${
      lines.find((line) => /error:|multiple|undefined/.test(line)) ?? lines[0]
    }`,
    EXIT.nothing,
  );
}

/**
 * Returns `path` once the file is there. Where it is missing, one process or thread makes it
 * while the others wait, and it appears whole or not at all.
 *
 * @param make Writes the file to the path that it is given. What it throws is passed on.
 */
export function buildOnce(path: string, make: (to: string) => void): string {
  const exists = () => unlessMissing(() => Deno.statSync(path).isFile);
  if (exists()) return path;
  using _lock = lockFile(path);
  if (exists()) return path;
  using temporary = claimFolder(".making-", dirname(path));
  make(`${temporary.path}/made`);
  Deno.renameSync(`${temporary.path}/made`, path);
  return path;
}

/** A place without libraries, so that nothing of this machine is found. */
const NOWHERE: Host = {
  env: () => undefined,
  list: () => [],
  link: () => undefined,
};

/**
 * Returns the backend of the emulated device `name`, which is its only device.
 *
 * @param library The path of its driver, built by {@linkcode emulatorLibrary}.
 * @throws {UserError} For an unknown name.
 */
export function emulatedBackend(name: EmulatedName, library: string): Backend {
  const backend = OPEN[emulatedApi(name)](library);
  const hash = emulatorHash();
  return {
    ...backend,
    openings: 1,
    // It has no pages whose place shows.
    placement: { copies: 1, pageBytes: 1 },
    find() {
      const { devices, reason } = backend.find();
      const driver = `emulator ${hash}`;
      return { reason, devices: devices.map((info) => ({ ...info, driver })) };
    },
    compiler(arch, build) {
      const [given] =
        /[^/]+\.(?:ptx|cubin)$/.exec(build?.source.pathname ?? "") ?? [];
      if (given === undefined) return portable(backend.compiler(arch));
      throw new CaseError(
        "unsupported",
        `The emulator runs sources, and ${given} is compiled: check it on a GPU`,
      );
    },
    // What the headers in the place of the API's say is in the binary.
    target(arch) {
      const target = backend.target(arch);
      return { ...target, flags: [...target.flags, `emulator ${hash}`] };
    },
  };
}

/** Leaves out the flags of a GPU's compiler, whichever it was to be. */
function portable(compiler: Compiler): Compiler {
  return {
    ...compiler,
    async compile({ compiler: _, flags = [], ...build }, binary) {
      const kept = flags.filter((flag) => /^-(D|I|std=)/.test(flag));
      try {
        return await compiler.compile({ ...build, flags: kept }, binary);
      } catch (error) {
        if (!(error instanceof CaseError)) throw error;
        const without = lackingIn(readIfThere(fileURLToPath(build.source))) ??
          unknownIn(error.message);
        if (without === undefined) throw error;
        throw new CaseError(
          error.failure,
          `${error.message}; the emulator has no ${without}, see emulator/README.md: check the kernel on a GPU`,
          { cause: error },
        );
      }
    },
  };
}

/** Returns what the emulator lacks of what the source `text` uses; nothing where it lacks nothing. */
function lackingIn(text = ""): string | undefined {
  if (/\b(?:__)?asm(?:__)?\b\s*(?:volatile|__volatile__)?\s*\(/.test(text)) {
    return "inline assembly";
  }
  const include =
    /^\s*#\s*include\s*[<"]((?:mma|cooperative_groups|cuda_pipeline|cuda\/|cub\/|cute\/|cutlass\/|hip\/|metal_\w+(?=>)|Metal\w+\/)[^>"]*)/m;
  return include.exec(text)?.[1];
}

/** Returns the name with `__`, as CUDA's functions have, that a C++ compiler did not know; nothing without one. */
function unknownIn(message: string): string | undefined {
  return /['‘](__\w+)['’] was not declared|undeclared identifier ['‘](__\w+)/
    .exec(message)?.slice(1).find((name) => name !== undefined);
}

const OPEN: Readonly<Record<EmulatedApi, (library: string) => Backend>> = {
  cuda: (driver) =>
    cuda({
      driver: [driver],
      nvrtc: [driver],
      nvml: [],
      cublas: [],
      host: NOWHERE,
    }),
  hip: (driver) =>
    hip({
      driver: [driver],
      hiprtc: [driver],
      hipblas: [],
      smi: [],
      host: NOWHERE,
    }),
  metal: (library) =>
    metal({
      objc: [library],
      metal: [library],
      mps: [library],
      cores: () => 40,
    }),
};

/**
 * The emulated device `name`, whose driver is in the folder `kernelCache` or comes there.
 *
 * @throws {UserError} For an unknown name, without a C++ compiler, or where it does not start.
 */
export function emulatedDevice(
  name: EmulatedName,
  kernelCache: string,
): { readonly backend: Backend; readonly info: DeviceInfo } {
  const folder = join(kernelCache, "emulator");
  const api = emulatedApi(name);
  const arch = emulatedArch(name);
  const flags = api === "hip"
    ? [`-DHIP_ARCH="${arch}"`]
    : api === "cuda"
    ? [`-DCUDA_SM=${/\d+/.exec(arch)}`]
    : [];
  const library = emulatorLibrary(api, { folder, flags });
  const backend = emulatedBackend(name, library);
  const { devices: [info], reason } = backend.find();
  if (info !== undefined) return { backend, info };
  throw new UserError(`Cannot open ${name}: ${reason}`, EXIT.nothing);
}
