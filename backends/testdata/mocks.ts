/**
 * Mock libraries for tests: C files built by `cc` and opened over real FFI.
 *
 * @module
 */

import { buildOnce, emulatorHash } from "../emulator/emulator.ts";
import { cstring } from "../shared/ffi.ts";
import type { Host } from "../shared/find_library.ts";
import { hashOf } from "../../bench/files/hash.ts";
import { fileURLToPath } from "node:url";

const hasCc = (() => {
  try {
    return new Deno.Command("cc", { args: ["--version"] }).outputSync().success;
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return false;
    throw error;
  }
})();

/** Registers a test that needs a C compiler; its name says so where there is none. */
export function ccTest(name: string, fn: () => void | Promise<void>): void {
  Deno.test({
    name: hasCc ? name : `${name} (ignored: no cc on the path)`,
    ignore: !hasCc,
    fn,
  });
}

/** The folder that all test processes of this checkout share. */
export const SHARED = fileURLToPath(new URL("../../.cache/", import.meta.url));

const folder = new Map<"path", string>();
const built = new Map<string, string>();

/** A path in a folder that is there as long as this isolate. */
export function scratch(name: string): string {
  if (!folder.has("path")) {
    const path = Deno.makeTempDirSync({ prefix: "mock" });
    folder.set("path", path);
    addEventListener(
      "unload",
      () => Deno.removeSync(path, { recursive: true }),
    );
  }
  const path = `${folder.get("path")}/${name}`;
  Deno.mkdirSync(path.replace(/\/[^/]*$/, ""), { recursive: true });
  return path;
}

/**
 * Returns a copy of the library that `make` returns the path of, made once, called `name`. Test
 * files run side by side in one process, where one library would have one state.
 */
export function own(name: string, make: () => string): string {
  const known = built.get(name);
  if (known !== undefined) return known;
  const path = scratch(name);
  Deno.copyFileSync(make(), path);
  built.set(name, path);
  return path;
}

/** Hash of all sources that mocks are built from. */
function sourcesHash(): string {
  const below = (at: URL): readonly string[] =>
    [...Deno.readDirSync(at)].toSorted((a, b) => a.name < b.name ? -1 : 1)
      .flatMap(({ name, isDirectory }) =>
        isDirectory
          ? below(new URL(`${name}/`, at))
          : /\.[ch]$/.test(name)
          ? [name, Deno.readTextFileSync(new URL(name, at))]
          : []
      );
  return hashOf(...below(new URL("./", import.meta.url)), emulatorHash());
}

/**
 * Builds `sources` of this folder into a shared library called `name`, once; `name` may have
 * folders before it.
 */
export function build(
  name: string,
  sources: readonly string[],
  flags: readonly string[] = [],
): string {
  return own(name, () => {
    const hash = hashOf(sourcesHash(), ...sources, ...flags);
    return buildOnce(`${SHARED}mocks/${hash}.so`, (to) => {
      const paths = sources.map((source) =>
        fileURLToPath(new URL(`./${source}`, import.meta.url))
      );
      const { success, stderr } = new Deno.Command("cc", {
        args: ["-shared", "-fPIC", "-O1", ...flags, "-o", to, ...paths, "-ldl"],
      }).outputSync();
      if (!success) throw new Error(new TextDecoder().decode(stderr));
    });
  });
}

/** The sources of the emulated CUDA driver, without those of what it drives. */
const DRIVER_SOURCES = ["driver.c", "launch.c"]
  .map((name) => `../../emulator/driver/gpu/${name}`);

/** Returns the mock driver, whose kernels are C functions, or an old one. */
export function driverPath({ old = false } = {}): string {
  return build(old ? "libold.so" : "libcuda.so.1", [
    ...DRIVER_SOURCES,
    "cuda/plain.c",
    "faults.c",
  ], old ? ["-DOLD_DRIVER"] : []);
}

/** Returns a "cubin" for the mock driver. */
export function kernelPath(): string {
  return build("kernel.cubin", ["cuda/kernel.c"]);
}

/** Returns the mock cuBLAS, with its cuBLASLt beside it. */
export function cublasPath(): string {
  build("libcublasLt.so.13", ["cuda/blas.c"]);
  return build("libcublas.so.13", ["cuda/blas.c"]);
}

/** Returns what tests tell and ask the mock driver. */
export function driverControls() {
  const { symbols } = Deno.dlopen(driverPath(), {
    mock_fault: { parameters: ["buffer", "i32", "i32"], result: "void" },
    driver_reset: { parameters: [], result: "void" },
    mock_devices: { parameters: ["i32"], result: "void" },
    driver_living: { parameters: [], result: "i32" },
    mock_calls: { parameters: ["buffer"], result: "i32" },
    mock_last_config: { parameters: ["buffer"], result: "void" },
  });
  return {
    /** Makes the call after `after` more of its kind return `status`. */
    fault: (call: string, status: number, after = 0) =>
      symbols.mock_fault(cstring(call), after, status),
    reset: () => symbols.driver_reset(),
    devices: (count: number) => symbols.mock_devices(count),
    /** Handles that were made and not given back. */
    living: () => symbols.driver_living(),
    calls: (call: string) => symbols.mock_calls(cstring(call)),
    /** The last `CUlaunchConfig` and its two attributes. */
    lastConfig() {
      const bytes = new Uint8Array(200);
      symbols.mock_last_config(bytes);
      return bytes;
    },
  };
}

/** A host whose files are `files`; links are `[path, target]`. */
export function fakeHost(
  env: Readonly<Record<string, string>>,
  files: readonly string[],
  links: Readonly<Record<string, string>> = {},
): Host {
  const paths = [...files, ...Object.keys(links)];
  return {
    env: (name) => env[name],
    link: (path) => links[path],
    list(at) {
      const below = paths.filter((path) => path.startsWith(`${at}/`));
      const names = below.map((p) => p.slice(at.length + 1).split("/")[0]!);
      return [...new Set(names)];
    },
  };
}

const hasCompilers = ["cc", "c++"].every((compiler) => {
  try {
    return new Deno.Command(compiler, { args: ["--version"] }).outputSync()
      .success;
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return false;
    throw error;
  }
});

/** Registers a test that needs a C and a C++ compiler; its name says so where one is missing. */
export function cxxTest(name: string, fn: () => void | Promise<void>): void {
  Deno.test({
    name: hasCompilers
      ? name
      : `${name} (ignored: no cc or no c++ on the path)`,
    ignore: !hasCompilers,
    fn,
  });
}
