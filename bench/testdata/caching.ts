/**
 * A cache of binaries with a compiler that only counts.
 *
 * @module
 */

import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { BinaryCache } from "../device/binary_cache.ts";
import type { Backend } from "../device/device.ts";

/** A source with an include, a backend that compiles it, and a folder for entries. */
export async function setUp() {
  const dir = await Deno.makeTempDir();
  await Deno.writeTextFile(join(dir, "k.cu"), '#include "k.cuh"\nint main;\n');
  await Deno.writeTextFile(join(dir, "k.cuh"), "// one\n");
  let compiled = 0;
  const backend: Backend = {
    name: "test",
    find: () => ({ devices: [], reason: "a test" }),
    target: (arch) => ({ arch, extension: "bin", flags: ["-O3"] }),
    compiler: () => ({
      signature: `testcc ${compiled}`,
      async compile(_, binary) {
        compiled++;
        await Deno.writeTextFile(binary, "code");
        return "a log";
      },
    }),
    open: () => {
      throw new Error("not opened here");
    },
    instruments: pathToFileURL(join(dir, "k.cu")),
  };
  const build = { source: pathToFileURL(join(dir, "k.cu")), defines: { N: 1 } };
  return {
    dir,
    build,
    backend,
    cache: () => new BinaryCache(join(dir, "cache")),
    compiled: () => compiled,
    [Symbol.dispose]: () => Deno.removeSync(dir, { recursive: true }),
  };
}
