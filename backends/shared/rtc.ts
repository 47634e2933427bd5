/**
 * Run-time compilers, called in the process: NVRTC and hipRTC take the same arguments
 * under names of their own.
 *
 * @module
 */

import type { Compiler } from "../../bench/device/device.ts";
import { CaseError } from "../../bench/model/errors.ts";
import { fileURLToPath } from "node:url";
import { within } from "../../bench/files/run_program.ts";
import { compileError, ownOptions } from "./compiler.ts";
import { CallError, type Checked, openChecked } from "./driver/checked.ts";
import {
  addressOf,
  type Bytes,
  cstring,
  out64,
  textAt,
  textIn,
} from "./ffi.ts";

const VERBS = {
  Version: { parameters: ["buffer", "buffer"] },
  CreateProgram: {
    parameters: ["buffer", "buffer", "buffer", "i32", "u64", "u64"],
  },
  // Takes a second or so: on another thread, so that several run at once.
  CompileProgram: { parameters: ["u64", "i32", "u64"], nonblocking: true },
  CompileAtOnce: { parameters: ["u64", "i32", "u64"] },
  DestroyProgram: { parameters: ["buffer"] },
  GetBinarySize: { parameters: ["u64", "buffer"] },
  GetBinary: { parameters: ["u64", "buffer"] },
  GetProgramLogSize: { parameters: ["u64", "buffer"] },
  GetProgramLog: { parameters: ["u64", "buffer"] },
} as const;

type Symbols =
  & {
    readonly [V in keyof typeof VERBS]: (typeof VERBS)[V] & {
      readonly name: string;
      readonly result: "i32";
    };
  }
  & {
    readonly GetErrorString: {
      readonly name: string;
      readonly parameters: readonly ["i32"];
      readonly result: "u64";
    };
  };

/** `NVRTC_ERROR_COMPILATION`, `HIPRTC_ERROR_COMPILATION`: the log says what is wrong. */
const COMPILATION = 6;

/** An opened library. */
export type Rtc = Checked<Symbols>;

/**
 * Opens the library at `path`.
 *
 * @param prefix Of its functions' names.
 * @param binary Its word for a binary.
 * @throws {Error} If there is no such library.
 */
export function openRtc(
  path: string,
  prefix: "nvrtc" | "hiprtc",
  binary: "CUBIN" | "Code",
): Rtc {
  const define = (verb: string, definition: object) => [verb, {
    ...definition,
    name: prefix + verb.replace("Binary", binary).replace("AtOnce", "Program"),
  }];
  const symbols = Object.fromEntries([
    ...Object.entries(VERBS).map(([verb, definition]) =>
      define(verb, { ...definition, result: "i32" })
    ),
    define("GetErrorString", { parameters: ["i32"], result: "u64" }),
  ]) as unknown as Symbols;
  return openChecked(path, symbols, {
    releasing: ["DestroyProgram"],
    failure: () => "compile",
    explain: ({ GetErrorString }, status) => ({
      name: textAt(GetErrorString(status)),
    }),
  });
}

/** The target and options of a run-time compiler. */
interface RtcTarget {
  /** The tool in signatures. */
  readonly tool: string;
  /** Options before folders and macros. */
  readonly options: readonly string[];
  /** Folders of headers besides the source's own. */
  readonly includes: readonly string[];
  /** Milliseconds after which a compilation is given up. @default {300000} */
  readonly limitMs?: number;
}

/** More than a program is given: some releases compile one thing at a time. */
const LIMIT_MS = 300_000;

/**
 * Compiles an empty program, which takes a few milliseconds.
 *
 * @throws {CaseError} `compile`: a library that can be opened may lack files of its own.
 */
export function tryRtc(rtc: Rtc): void {
  const program = out64((to) =>
    rtc.CreateProgram(to, cstring(""), cstring("empty"), 0, 0n, 0n)
  );
  try {
    rtc.CompileAtOnce(program, 0, 0n);
  } catch (error) {
    if (!(error instanceof CallError)) throw error;
    throw compileError(log(rtc, program), "");
  } finally {
    rtc.DestroyProgram(new BigUint64Array([program]));
  }
}

/** Returns the compiler that `rtc` is for `target`. */
export function rtcCompiler(
  rtc: Rtc,
  { tool, options: first, includes, limitMs = LIMIT_MS }: RtcTarget,
): Compiler {
  const [major, minor] = [new Int32Array(1), new Int32Array(1)];
  rtc.Version(major, minor);
  return {
    signature: `${tool} ${major[0]}.${minor[0]}`,
    async compile(build, binary) {
      const source = fileURLToPath(build.source);
      const folder = source.slice(0, source.lastIndexOf("/") + 1);
      const options = [
        ...first,
        ...ownOptions(build, { before: [folder], after: includes }),
      ];
      const text = cstring(await Deno.readTextFile(build.source));
      const name = cstring(source);
      const program = out64((to) =>
        rtc.CreateProgram(to, text, name, 0, 0n, 0n)
      );
      const work = async () => {
        try {
          await run(rtc, program, { options, folder });
          const { GetBinarySize, GetBinary } = rtc;
          const code = bytesOf(program, GetBinarySize, GetBinary);
          await Deno.writeFile(binary, code);
          return log(rtc, program);
        } finally {
          rtc.DestroyProgram(new BigUint64Array([program]));
        }
      };
      return await within(limitMs, {
        work: work(),
        // A thread of ours is in it, which cannot be ended.
        late: () =>
          new CaseError(
            "compile",
            `${tool} did not end within ${
              limitMs / 1000
            } s; it goes on until the worker ends, as nothing can stop it: use a simpler kernel`,
          ),
      });
    },
  };
}

/** Buffers that a compilation on another thread reads: reachable until it ends. */
const inUse = new Set<readonly ArrayBuffer[]>();

async function run(
  rtc: Rtc,
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
    await rtc.CompileProgram(
      program,
      options.length,
      addressOf(list.buffer),
    );
  } catch (error) {
    if (!(error instanceof CallError)) throw error;
    if (error.status === COMPILATION) {
      throw compileError(log(rtc, program), folder);
    }
    throw new CaseError("compile", error.message, {
      cause: `${error.message}\n${log(rtc, program)}`,
    });
  } finally {
    inUse.delete(buffers);
  }
}

/** Returns the bytes that `get` writes, as many as `size` says. */
function bytesOf(
  program: bigint,
  size: Rtc["GetBinarySize"],
  get: Rtc["GetBinary"],
): Bytes {
  const bytes = new Uint8Array(Number(out64((to) => size(program, to))));
  get(program, bytes);
  return bytes;
}

function log(rtc: Rtc, program: bigint): string {
  return textIn(bytesOf(program, rtc.GetProgramLogSize, rtc.GetProgramLog));
}
