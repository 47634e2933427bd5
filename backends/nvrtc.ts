/**
 * NVIDIA's run-time compiler, called in the process.
 *
 * @module
 */

import type { Build, Compiler, Target } from "../bench/device.ts";
import { CaseError } from "../bench/errors.ts";
import { fileURLToPath } from "node:url";
import { compileError } from "./compile_log.ts";
import { type Checked, openChecked } from "./driver/checked.ts";
import { CallError, callMessage } from "./driver/error.ts";
import {
  addressOf,
  type Bytes,
  cstring,
  out64,
  textAt,
  textIn,
} from "./ffi.ts";
import { TOOLKIT_LIBRARIES, type Wanted } from "./find_library.ts";

/** Where the library is. */
export const NVRTC_WANTED: Wanted = {
  names: ["libnvrtc.so.13", "libnvrtc.so.12", "libnvrtc.so"],
  toolkit: TOOLKIT_LIBRARIES,
  wheels: ["nvidia/cu13/lib", "nvidia/cuda_nvrtc/lib"],
};

const NVRTC = {
  nvrtcVersion: { parameters: ["buffer", "buffer"], result: "i32" },
  nvrtcCreateProgram: {
    parameters: ["buffer", "buffer", "buffer", "i32", "u64", "u64"],
    result: "i32",
  },
  // Takes a second or so: on another thread, so that several run at once.
  nvrtcCompileProgram: {
    parameters: ["u64", "i32", "u64"],
    result: "i32",
    nonblocking: true,
  },
  nvrtcDestroyProgram: { parameters: ["buffer"], result: "i32" },
  nvrtcGetCUBINSize: { parameters: ["u64", "buffer"], result: "i32" },
  nvrtcGetCUBIN: { parameters: ["u64", "buffer"], result: "i32" },
  nvrtcGetProgramLogSize: { parameters: ["u64", "buffer"], result: "i32" },
  nvrtcGetProgramLog: { parameters: ["u64", "buffer"], result: "i32" },
  nvrtcGetErrorString: { parameters: ["i32"], result: "u64" },
} as const satisfies Deno.ForeignLibraryInterface;

/** `NVRTC_ERROR_COMPILATION`: the source is wrong, and the log says where. */
const COMPILATION = 6;

/** The opened library. */
export type Nvrtc = Checked<typeof NVRTC>;

/**
 * Opens the library at `path`.
 *
 * @throws {Error} If there is no such library.
 */
export function openNvrtc(path: string): Nvrtc {
  return openChecked(path, NVRTC, {
    releasing: ["nvrtcDestroyProgram"],
    error: ({ nvrtcGetErrorString }, call, status) =>
      new CallError(
        "compile",
        callMessage(call, status, {
          name: textAt(nvrtcGetErrorString(status)),
          text: "",
        }),
        status,
      ),
  });
}

/** Returns the compiler that `nvrtc` is for `target`, finding headers in `includes`. */
export function nvrtcCompiler(
  nvrtc: Nvrtc,
  target: Target,
  includes: readonly string[],
): Compiler {
  const [major, minor] = [new Int32Array(1), new Int32Array(1)];
  nvrtc.nvrtcVersion(major, minor);
  return {
    signature: `nvrtc ${major[0]}.${minor[0]}`,
    async compile(build, binary) {
      const source = fileURLToPath(build.source);
      const folder = source.slice(0, source.lastIndexOf("/") + 1);
      const options = [
        `--gpu-architecture=${target.arch}`,
        // nvcc takes a plain constexpr function for both sides; this is NVRTC's way to it.
        "-default-device",
        ...target.flags,
        ...[folder, ...includes].map((include) => `-I${include}`),
        ...defines(build),
      ];
      const text = cstring(await Deno.readTextFile(build.source));
      const name = cstring(source);
      const program = out64((to) =>
        nvrtc.nvrtcCreateProgram(to, text, name, 0, 0n, 0n)
      );
      try {
        await run(nvrtc, program, { options, folder });
        await Deno.writeFile(binary, cubin(nvrtc, program));
        return log(nvrtc, program);
      } finally {
        nvrtc.nvrtcDestroyProgram(new BigUint64Array([program]));
      }
    },
  };
}

/** Returns the macros of `build` as options. */
export function defines({ defines }: Build): readonly string[] {
  return Object.entries(defines).map(([name, value]) => `-D${name}=${value}`);
}

/** Buffers that a compilation on another thread reads: reachable until it ends. */
const inUse = new Set<readonly ArrayBuffer[]>();

async function run(
  nvrtc: Nvrtc,
  program: bigint,
  { options, folder }: {
    readonly options: readonly string[];
    readonly folder: string;
  },
): Promise<void> {
  const strings = options.map((option) => cstring(option).buffer);
  const list = new BigUint64Array(strings.map((buffer) => addressOf(buffer)));
  const buffers = [...strings, list.buffer];
  inUse.add(buffers);
  try {
    await nvrtc.nvrtcCompileProgram(
      program,
      options.length,
      addressOf(list.buffer),
    );
  } catch (error) {
    if (!(error instanceof CallError)) throw error;
    if (error.status === COMPILATION) {
      throw compileError(log(nvrtc, program), folder);
    }
    throw new CaseError("compile", error.message, {
      cause: `${error.message}\n${log(nvrtc, program)}`,
    });
  } finally {
    inUse.delete(buffers);
  }
}

function cubin(nvrtc: Nvrtc, program: bigint): Bytes {
  const bytes = out64((to) => nvrtc.nvrtcGetCUBINSize(program, to));
  const binary = new Uint8Array(Number(bytes));
  nvrtc.nvrtcGetCUBIN(program, binary);
  return binary;
}

function log(nvrtc: Nvrtc, program: bigint): string {
  const bytes = out64((to) => nvrtc.nvrtcGetProgramLogSize(program, to));
  const text = new Uint8Array(Number(bytes));
  nvrtc.nvrtcGetProgramLog(program, text);
  return textIn(text);
}
