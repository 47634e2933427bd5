/**
 * Mock libraries of CUDA, cuBLAS, cuBLASLt and CUPTI, and a program that calls them.
 *
 * @module
 */

import { dirname } from "node:path";
import { fileURLToPath } from "node:url";
import { ccTest, scratch } from "../../../testdata/mocks.ts";

const built = new Map<string, string>();

function cc(name: string, args: readonly string[]): string {
  const to = scratch(`capture/${name}`);
  const { success, stderr } = new Deno.Command("cc", {
    args: ["-O1", "-Wall", ...args, "-o", to, "-ldl", "-lpthread"],
    cwd: fileURLToPath(new URL("./", import.meta.url)),
  }).outputSync();
  if (!success) throw new Error(new TextDecoder().decode(stderr));
  return to;
}

function library(name: string, sources: readonly string[]): string {
  return cc(name, ["-shared", "-fPIC", `-Wl,-soname,${name}`, ...sources]);
}

/** Builds all of it once. @returns The path of the program, which is beside the libraries. */
export function mockProgram(): string {
  const known = built.get("program");
  if (known !== undefined) return known;
  const cuda = library("libcuda.so.1", ["cuda.c"]);
  const cublas = library("libcublas.so.13", ["cublas.c", cuda]);
  const cublaslt = library("libcublasLt.so.13", ["cublaslt.c", cuda]);
  library("libcupti.so.13", ["cupti.c", cuda]);
  library("libplugin.so", ["plugin.c", cublas]);
  const program = cc("program", ["program.c", cublas, cublaslt, cuda]);
  built.set("program", program);
  return program;
}

/** Builds the program without libraries: the recorder cannot be loaded into it. */
export function staticProgram(): string {
  const source = scratch("capture/static.c");
  Deno.writeTextFileSync(source, "int main(void) { return 0; }\n");
  return cc("static", ["-static", source]);
}

/** Returns the folder of the mock libraries. */
export function mockFolder(): string {
  return dirname(mockProgram());
}

const hasPython = (() => {
  try {
    return new Deno.Command("python3", { args: ["-c", ""] }).outputSync()
      .success;
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return false;
    throw error;
  }
})();

/** Registers a test that needs Python; its name says so where there is none. */
export function pythonTest(name: string, fn: () => Promise<void>): void {
  if (hasPython) ccTest(name, fn);
  else Deno.test.ignore(`${name} (ignored: no python3 on the path)`, fn);
}
