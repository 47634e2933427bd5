/**
 * Mock libraries for tests: C files built by `cc` and opened over real FFI.
 *
 * @module
 */

import { cstring } from "../shared/ffi.ts";
import { type Host } from "../shared/find_library.ts";

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

const folder = new Map<"path", string>();
const built = new Map<string, string>();

/**
 * Builds `sources` of this folder into a shared library called `name`, once; `name` may have
 * folders before it.
 */
export function build(
  name: string,
  sources: readonly string[],
  flags: readonly string[] = [],
): string {
  const known = built.get(name);
  if (known !== undefined) return known;
  if (!folder.has("path")) {
    const path = Deno.makeTempDirSync({ prefix: "mock" });
    folder.set("path", path);
    addEventListener(
      "unload",
      () => Deno.removeSync(path, { recursive: true }),
    );
  }
  const out = `${folder.get("path")}/${name}`;
  Deno.mkdirSync(out.replace(/\/[^/]*$/, ""), { recursive: true });
  const paths = sources.map((source) =>
    new URL(`./${source}`, import.meta.url).pathname
  );
  const { success, stderr } = new Deno.Command("cc", {
    args: ["-shared", "-fPIC", "-O1", ...flags, "-o", out, ...paths, "-ldl"],
  }).outputSync();
  if (!success) throw new Error(new TextDecoder().decode(stderr));
  built.set(name, out);
  return out;
}

/** The mock driver's sources, without those of what it drives. */
export const DRIVER_SOURCES = [
  "mockcuda.c",
  "mockcuda_launch.c",
  "mockcuda_tensor.c",
] as const;

/** Returns the mock driver, whose kernels are C functions, or an old one. */
export function driverPath({ old = false } = {}): string {
  return build(old ? "libold.so" : "libcuda.so.1", [
    ...DRIVER_SOURCES,
    "mockcuda_plain.c",
  ], old ? ["-DOLD_DRIVER"] : []);
}

/** Returns a "cubin" for the mock driver. */
export function kernelPath(): string {
  return build("kernel.cubin", ["mockkernel.c"]);
}

/** Returns the mock cuBLAS, with its cuBLASLt beside it. */
export function cublasPath(): string {
  build("libcublasLt.so.13", ["mockcublaslt.c"]);
  return build("libcublas.so.13", ["mockcublas.c"]);
}

/** Returns what tests tell and ask the mock driver. */
export function driverControls() {
  const { symbols } = Deno.dlopen(driverPath(), {
    mock_fault: { parameters: ["buffer", "i32", "i32"], result: "void" },
    mock_reset: { parameters: [], result: "void" },
    mock_devices: { parameters: ["i32"], result: "void" },
    mock_living: { parameters: [], result: "i32" },
    mock_calls: { parameters: ["buffer"], result: "i32" },
    mock_last_config: { parameters: ["buffer"], result: "void" },
  });
  return {
    /** Makes the call after `after` more of its kind return `status`. */
    fault: (call: string, status: number, after = 0) =>
      symbols.mock_fault(cstring(call), after, status),
    reset: () => symbols.mock_reset(),
    devices: (count: number) => symbols.mock_devices(count),
    /** Handles that were made and not given back. */
    living: () => symbols.mock_living(),
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
