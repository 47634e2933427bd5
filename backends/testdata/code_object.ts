/**
 * Reads the metadata of kernels in an AMD code object, by LLVM's tools.
 *
 * @module
 */

import type { Build, Compiler } from "../../bench/device/device.ts";
import { CaseError } from "../../bench/model/errors.ts";
import { hip } from "../hip/hip.ts";

/** A kernel's metadata. */
export interface KernelNote {
  readonly name: string;
  /** Registers of a lane, accumulators included. */
  readonly registers: number;
  readonly spills: number;
  /** Bytes of local data share that are not the launch's to choose. */
  readonly ldsBytes: number;
  /** Bytes of private memory of a lane: arrays that did not fit registers. */
  readonly privateBytes: number;
  readonly wave: number;
}

/** Releases of LLVM that Debian packages, the newest first: the older do not read gfx950. */
const RELEASES = [22, 21, 20, 19];

/** The path of LLVM's `tool`, or nothing. */
export function llvmTool(tool: string): string | undefined {
  const names = [
    ...RELEASES.map((release) => `${tool}-${release}`),
    ...["", "/opt/rocm/llvm/bin/"].map((prefix) => prefix + tool),
  ];
  return names.find((name) => {
    try {
      return new Deno.Command(name, { args: ["--version"] }).outputSync()
        .success;
    } catch (error) {
      if (error instanceof Deno.errors.NotFound) return false;
      throw error;
    }
  });
}

async function run(tool: string, args: readonly string[]): Promise<string> {
  const { success, stdout, stderr } = await new Deno.Command(tool, {
    args: [...args],
  }).output();
  const decoder = new TextDecoder();
  if (!success) throw new Error(decoder.decode(stderr));
  return decoder.decode(stdout);
}

/** The kernels of the code object at `path`. */
export async function kernelNotes(
  path: string,
): Promise<readonly KernelNote[]> {
  const text = await run(llvmTool("llvm-readelf")!, ["--notes", path]);
  const kernels = text.split(/^ {2}- /m).slice(1)
    .filter((part) => part.includes(".wavefront_size"));
  return kernels.map((part) => {
    const number = (field: string) =>
      Number(new RegExp(`^\\s*\\.${field}:\\s+(\\d+)`, "m").exec(part)?.[1]);
    return {
      name: /^\s*\.symbol:\s+'?([^'\s]+)\.kd/m.exec(part)?.[1] ?? "",
      registers: number("vgpr_count"),
      spills: number("vgpr_spill_count") + number("sgpr_spill_count"),
      ldsBytes: number("group_segment_fixed_size"),
      privateBytes: number("private_segment_fixed_size"),
      wave: number("wavefront_size"),
    };
  });
}

/** Counts each instruction in the code object at `path`. */
export async function mnemonics(
  path: string,
): Promise<ReadonlyMap<string, number>> {
  const text = await run(llvmTool("llvm-objdump")!, ["-d", path]);
  const counts = new Map<string, number>();
  for (const [, name] of text.matchAll(/^\t([a-z]\w+)/gm)) {
    counts.set(name!, (counts.get(name!) ?? 0) + 1);
  }
  return counts;
}

/** Counts the instructions whose name starts so. */
export function count(
  counts: ReadonlyMap<string, number>,
  prefix: string,
): number {
  return [...counts].filter(([name]) => name.startsWith(prefix))
    .reduce((sum, [, times]) => sum + times, 0);
}

/** The compiler, without hipRTC; or why this cannot be tried here. */
function compilerFor(arch: string): Compiler | string {
  for (const tool of ["llvm-readelf", "llvm-objdump"]) {
    if (llvmTool(tool) === undefined) return `no ${tool}`;
  }
  try {
    return hip({ hiprtc: [] }).compiler(arch);
  } catch (error) {
    if (error instanceof CaseError) return `no clang that knows ${arch}`;
    throw error;
  }
}

/** Registers a test that compiles for `arch` by clang; its name says so where it cannot. */
export function buildTest(
  name: string,
  arch: string,
  test: (compile: (build: Build) => Promise<string>) => Promise<void>,
): void {
  const compiler = compilerFor(arch);
  const missing = typeof compiler === "string" ? compiler : "";
  Deno.test({
    name: `${name} for ${arch}${missing && ` (ignored: ${missing})`}`,
    ignore: missing !== "",
    async fn() {
      if (typeof compiler === "string") return;
      const folder = await Deno.makeTempDir();
      let files = 0;
      try {
        await test(async (build) => {
          const binary = `${folder}/${files++}.hsaco`;
          await compiler.compile(build, binary);
          return binary;
        });
      } finally {
        await Deno.remove(folder, { recursive: true });
      }
    },
  });
}
