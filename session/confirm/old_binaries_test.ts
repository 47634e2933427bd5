import { assertEquals } from "@std/assert";
import { dirname, join } from "node:path";
import { pathToFileURL } from "node:url";
import { BinaryCache } from "../../bench/device/binary_cache.ts";
import type { Backend } from "../../bench/device/device.ts";
import { joinHashes } from "../../bench/measure/case_run.ts";
import { OldBinaries } from "./old_binaries.ts";

/** A backend whose compiler copies the source with its constants. */
const backend: Backend = {
  name: "test",
  find: () => ({ devices: [], reason: "a test" }),
  target: (arch) => ({ arch, extension: "bin", flags: [] }),
  compiler: () => ({
    signature: "testcc 1",
    async compile({ source, defines }, binary) {
      const text = await Deno.readTextFile(source);
      await Deno.writeTextFile(binary, text + JSON.stringify(defines));
      return "";
    },
  }),
  open: () => {
    throw new Error("not opened here");
  },
  instruments: new URL("file:///none"),
};

Deno.test("OldBinaries finds the builds of a plan by their joined hash, though the sources changed", async () => {
  const dir = await Deno.makeTempDir();
  try {
    const cache = () => new BinaryCache(join(dir, "cache"));
    const builds = ["a.c", "b.c"].map((name) => ({
      source: pathToFileURL(join(dir, name)),
      defines: { N: 1 },
    }));
    const build = async (version: string, from: BinaryCache) => {
      for (const { source } of builds) {
        await Deno.writeTextFile(source, `${source} ${version}`);
      }
      return await Promise.all(builds.map((b) => from.get(b, backend, "x")));
    };
    const old = await build("one", cache());
    await build("two", cache());
    // Another constant is another kernel.
    await cache().get({ ...builds[0]!, defines: { N: 2 } }, backend, "x");
    const hash = joinHashes(old.map(({ binaryHash }) => binaryHash));
    const now = cache();
    const all = new OldBinaries(now);
    const query = { hash, backend, arch: "x" };
    const found = all.find(builds, query);
    assertEquals(
      found,
      Object.fromEntries(builds.map((b, i) => [
        now.sourceHash(b, backend, "x"),
        dirname(old[i]!.path),
      ])),
    );
    assertEquals(all.find(builds, { ...query, arch: "y" }), undefined);
    assertEquals(all.find(builds, { ...query, hash: "none" }), undefined);
    assertEquals(all.find(builds.slice(1), query), undefined);
  } finally {
    await Deno.remove(dir, { recursive: true });
  }
});

Deno.test("OldBinaries finds nothing where there is no cache", () => {
  const none = new OldBinaries(new BinaryCache("/nowhere/at/all"));
  assertEquals(
    none.find([{ source: new URL("file:///a.c"), defines: {} }], {
      hash: "a",
      backend,
      arch: "x",
    }),
    undefined,
  );
});
