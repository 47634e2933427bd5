import { deepStrictEqual, rejects, strictEqual } from "node:assert/strict";
import { dirname, join } from "node:path";
import { BinaryCache } from "./binary_cache.ts";
import type { Backend } from "./device.ts";
import { CaseError } from "../model/errors.ts";
import { setUp } from "../testdata/caching.ts";

Deno.test("BinaryCache.get() compiles once, for this process and the next", async () => {
  using t = await setUp();
  const cache = t.cache();
  const first = await cache.get(t.build, t.backend, "a1");
  strictEqual(await cache.get(t.build, t.backend, "a1"), first);
  const again = await t.cache().get(t.build, t.backend, "a1");
  deepStrictEqual(again, first);
  strictEqual(t.compiled(), 1);
  strictEqual(await Deno.readTextFile(first.path), "code");
});

Deno.test("BinaryCache.get() keys on arch, constants, source and includes", async () => {
  using t = await setUp();
  const hashOf = async (build = t.build, arch = "a1") =>
    (await t.cache().get(build, t.backend, arch)).sourceHash;
  const hashes = [
    await hashOf(),
    await hashOf(t.build, "a2"),
    await hashOf({ ...t.build, defines: { N: 2 } }),
  ];
  await Deno.writeTextFile(join(t.dir, "k.cuh"), "// two\n");
  hashes.push(await hashOf());
  await Deno.writeTextFile(join(t.dir, "k.cu"), "int other;\n");
  hashes.push(await hashOf());
  strictEqual(new Set(hashes).size, 5);
});

Deno.test("BinaryCache.get() uses an entry of another compiler", async () => {
  using t = await setUp();
  const { compiler } = await t.cache().get(t.build, t.backend, "a1");
  const without: Backend = {
    ...t.backend,
    compiler() {
      throw new CaseError("compile", "no compiler here");
    },
  };
  const found = await t.cache().get(t.build, without, "a1");
  strictEqual(found.compiler, compiler);
});

Deno.test("BinaryCache.get() says how to prebuild what is missing", async () => {
  using t = await setUp();
  const cache = new BinaryCache(join(t.dir, "cache"), { prebuilt: true });
  await rejects(cache.get(t.build, t.backend, "a1"), {
    failure: "compile",
    message:
      /No prebuilt binary of k\.cu for a1 .*build it on a machine with a compiler/,
  });
});

Deno.test("BinaryCache.get() lets two processes make one entry", async () => {
  using t = await setUp();
  const both = await Promise.all(
    [t.cache(), t.cache()].map((c) => c.get(t.build, t.backend, "a1")),
  );
  strictEqual(both[0]!.path, both[1]!.path);
  const left = [...Deno.readDirSync(join(t.dir, "cache"))].map((e) => e.name);
  strictEqual(left.length, 1, left.join());
});

Deno.test("BinaryCache.get() takes another entry where told, and never builds one in its place", async () => {
  using given = await setUp();
  const { backend, build } = given;
  const old = await given.cache().get(build, backend, "x");
  await Deno.writeTextFile(join(given.dir, "k.cuh"), "// two\n");
  const dir = join(given.dir, "cache");
  const now = given.cache().sourceHash(build, backend, "x");
  const told = (folder: string) =>
    new BinaryCache(dir, { binaries: { [now]: folder } })
      .get(build, backend, "x");
  strictEqual((await told(dirname(old.path))).path, old.path);
  await rejects(told(join(dir, "absent")), CaseError);
  strictEqual(given.compiled(), 1);
});
