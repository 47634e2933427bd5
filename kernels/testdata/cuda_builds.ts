/**
 * The translation units of CUDA kernels, and their compilation by nvcc for the H200: ptxas must
 * say that nothing is spilled.
 *
 * @module
 */

import { existsSync } from "node:fs";
import { assert, assertEquals, assertMatch, assertNotMatch } from "@std/assert";
import type { Build, DeviceInfo } from "../../bench/device/device.ts";
import type { Kernel } from "../../bench/model/kernel_spec.ts";
import { h200 } from "./devices.ts";

/** The name of the source file. */
export function fileOf({ source }: Build): string {
  return source.pathname.split("/").at(-1)!;
}

/** File and defines, such as `reference.cu TYPE=bf16`. */
export function textOf(build: Build): string {
  return [
    fileOf(build),
    ...Object.entries(build.defines).map(([k, v]) => `${k}=${v}`),
  ].join(" ");
}

/** Every translation unit of every legal config of the CUDA kernels at `points` on `info`, once. */
export function distinctBuilds<P>(
  kernels: readonly Kernel<P>[],
  points: readonly P[],
  info: DeviceInfo = h200,
): readonly Build[] {
  const found = new Map<string, Build>();
  for (const kernel of kernels.filter(({ backend }) => backend === "cuda")) {
    for (const point of points) {
      if (kernel.unsupported(point, info) !== undefined) continue;
      for (const { config, illegal } of kernel.candidates(point, info)) {
        if (illegal !== undefined) continue;
        for (const b of kernel.builds(point, config)) found.set(textOf(b), b);
      }
    }
  }
  return [...found.values()];
}

/** A source with those of its conditional macros that a build defines. */
function variantOf({ source, defines }: Build): string {
  const macros = Deno.readTextFileSync(source).matchAll(/^#(?:el)?if (\w+)$/gm);
  const on = [...macros].map(([, name]) => name!).filter((name) =>
    Number(defines[name]) === 1
  );
  return [source.href, ...new Set(on)].join(" ");
}

/** Of each variant of a source the build whose sizes are the least, which takes the least time. */
export function smallestOfEach(builds: readonly Build[]): readonly Build[] {
  const size = ({ defines }: Build) =>
    Object.values(defines).reduce<number>(
      (product, value) => product * Math.max(1, Number(value) || 1),
      1,
    );
  const best = new Map<string, Build>();
  for (const build of builds) {
    const variant = variantOf(build);
    const known = best.get(variant);
    if (!known || size(build) < size(known)) best.set(variant, build);
  }
  return [...best.values()];
}

/** The architecture that is compiled for. */
export const ARCH = "sm_90a";

async function nvcc(args: readonly string[]) {
  try {
    const { success, stdout, stderr } = await new Deno.Command("nvcc", {
      args: [...args],
    }).output();
    const decoder = new TextDecoder();
    return { success, log: decoder.decode(stdout) + decoder.decode(stderr) };
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return undefined;
    throw error;
  }
}

/** Whether there is no nvcc. Runs nothing: suite files import this module, and may not. */
export const withoutNvcc: boolean = !(Deno.env.get("PATH") ?? "").split(":")
  .some((folder) => existsSync(`${folder}/nvcc`));
/** The end of the name of a test that needs nvcc. */
export const skipped = withoutNvcc ? " (skipped: nvcc is not on PATH)" : "";

/** The macros of a translation unit and its path, for nvcc. */
function unitOf({ source, defines }: Build): string[] {
  return [
    ...Object.entries(defines).map(([k, v]) => `-D${k}=${v}`),
    decodeURIComponent(source.pathname),
  ];
}

/** Compiles `build` for `arch`, such as `sm_80`, and asserts that the compiler takes it. */
export async function compileFor(build: Build, arch: string): Promise<void> {
  const folder = await Deno.makeTempDir();
  try {
    const result = await nvcc([
      ...["-cubin", "-O3", "-std=c++17", `-arch=${arch}`],
      ...unitOf(build),
      `-o=${folder}/out.cubin`,
    ]);
    assert(result?.success, `${textOf(build)}: ${result?.log}`);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

/** The PTX that nvcc makes of a build. */
export async function ptxOf(build: Build): Promise<string> {
  const folder = await Deno.makeTempDir();
  try {
    const result = await nvcc([
      ...["-ptx", "-O3", "-std=c++17", "-arch=compute_90a"],
      ...unitOf(build),
      `-o=${folder}/out.ptx`,
    ]);
    assert(result?.success, result?.log);
    return await Deno.readTextFile(`${folder}/out.ptx`);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

/**
 * Compiles all of `builds`, as many at a time as there are cores; each without a spill, a
 * stack unless its path matches `stack`, and a product of a warpgroup that waits for the one before.
 *
 * @param spilled Bytes that a build may store in a spill; it then has a stack.
 */
export async function compileWithoutSpills(
  builds: readonly Build[],
  stack: RegExp | undefined = undefined,
  spilled = 0,
): Promise<void> {
  const folder = await Deno.makeTempDir();
  try {
    const left = builds.entries();
    let compiled = 0;
    const lane = async () => {
      for (const [i, build] of left) {
        const what = textOf(build);
        const result = await nvcc([
          "-cubin",
          "-O3",
          "-std=c++17",
          `-gencode=arch=compute_90a,code=${ARCH}`,
          "-Xptxas=-v",
          "-Werror=all-warnings",
          ...unitOf(build),
          `-o=${folder}/${i}.cubin`,
        ]);
        assert(result?.success, `${what}\n${result?.log}`);
        assertMatch(result.log, /bytes spill stores/, what);
        const spills = result.log.matchAll(/(\d+) bytes spill stores, (\d+)/g);
        for (const [, stores, loads] of spills) {
          const text = `${what} spills\n${result.log}`;
          if (spilled === 0) assertEquals([stores, loads], ["0", "0"], text);
          else assert(Number(stores) <= spilled, text);
        }
        // An array that is indexed by a variable is on a stack, which is no spill.
        for (const [, bytes] of result.log.matchAll(/(\d+) bytes stack/g)) {
          if (spilled === 0 && !stack?.test(build.source.pathname)) {
            assertEquals(bytes, "0", `${what} has a stack\n${result.log}`);
          }
        }
        // ptxas says so where it cannot keep wgmma asynchronous.
        assertNotMatch(result.log, /serialized/, what);
        compiled++;
      }
    };
    await Promise.all(
      Array.from({ length: navigator.hardwareConcurrency }, lane),
    );
    assertEquals(compiled, builds.length);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}
