import { match, ok, rejects, strictEqual, throws } from "node:assert/strict";
import { dirname, join } from "node:path";
import { pathToFileURL } from "node:url";
import { BinaryCache } from "./binary_cache.ts";
import { CaseError } from "../model/errors.ts";
import { setUp } from "../testdata/caching.ts";

Deno.test("BinaryCache.get() names the cure for a corrupt entry", async () => {
  using t = await setUp();
  const { path } = await t.cache().get(t.build, t.backend, "a1");
  await Deno.writeTextFile(path, "other code");
  await rejects(t.cache().get(t.build, t.backend, "a1"), {
    message:
      /binary is not the one its manifest describes; remove it with `rm -r/,
  });
  await Deno.writeTextFile(join(path, "..", "manifest.json"), "{");
  await rejects(t.cache().get(t.build, t.backend, "a1"), {
    message: /manifest is not JSON/,
  });
});

Deno.test("BinaryCache.get() names a source that is not there", async () => {
  using t = await setUp();
  const source = new URL("nothing.cu", t.build.source);
  let thrown: unknown;
  try {
    await t.cache().get({ source, defines: {} }, t.backend, "a1");
  } catch (error) {
    thrown = error;
  }
  strictEqual((thrown as CaseError).failure, "compile");
});

/** What is in the way of an entry, and what is said about it. */
const SPOILT: readonly (readonly [
  string,
  (entry: string) => Promise<void>,
  RegExp,
])[] = [
  [
    "a manifest of null",
    (entry) => Deno.writeTextFile(join(entry, "manifest.json"), "null"),
    /manifest does not describe a binary; remove it with `rm -r/,
  ],
  [
    "a manifest that is a folder",
    async (entry) => {
      await Deno.remove(join(entry, "manifest.json"));
      await Deno.mkdir(join(entry, "manifest.json"));
    },
    /^Cannot use the cached kernel in .*; remove it with `rm -r/,
  ],
  [
    "an entry that is a file",
    async (entry) => {
      await Deno.remove(entry, { recursive: true });
      await Deno.writeTextFile(entry, "");
    },
    /^Cannot use the cached kernel in .*; remove it with `rm -r/,
  ],
  [
    "a folder that is a file",
    async (entry) => {
      await Deno.remove(dirname(entry), { recursive: true });
      await Deno.writeTextFile(dirname(entry), "");
    },
    /^Cannot keep kernels in .*: it is not a folder; name another folder with --kernel-cache DIR$/,
  ],
];

for (const [what, spoil, message] of SPOILT) {
  Deno.test(`BinaryCache.get() says in one line what to do about ${what}`, async () => {
    using t = await setUp();
    const { path } = await t.cache().get(t.build, t.backend, "a1");
    await spoil(dirname(path));
    await rejects(t.cache().get(t.build, t.backend, "a1"), (error) => {
      ok(error instanceof CaseError, `${error}`);
      strictEqual(error.failure, "compile");
      match(error.message, message);
      ok(!error.message.includes("\n"), error.message);
      return true;
    });
  });
}

Deno.test("BinaryCache.get() replaces a folder without a manifest", async () => {
  using t = await setUp();
  const { path } = await t.cache().get(t.build, t.backend, "a1");
  await Deno.remove(join(dirname(path), "manifest.json"));
  strictEqual((await t.cache().get(t.build, t.backend, "a1")).path, path);
  strictEqual(t.compiled(), 2);
});

Deno.test("BinaryCache.get() names a folder that cannot be made", async () => {
  using t = await setUp();
  const dir = join(t.dir, "k.cu", "below");
  await rejects(new BinaryCache(dir).get(t.build, t.backend, "a1"), {
    failure: "compile",
    message: /^Cannot keep kernels in .*below: .*--kernel-cache DIR$/,
  });
});

Deno.test("BinaryCache.get() does not believe a compiler that wrote nothing", async () => {
  using t = await setUp();
  for (
    const compile of [
      () => Promise.resolve(""),
      (_: unknown, binary: string) =>
        Deno.writeTextFile(binary, "").then(() => ""),
    ]
  ) {
    const compiler = () => ({ signature: "mute 1", compile });
    await rejects(t.cache().get(t.build, { ...t.backend, compiler }, "a1"), {
      failure: "compile",
      message: /^Cannot compile k\.cu: mute 1 reported success and wrote no/,
    });
  }
});

Deno.test("BinaryCache.sourceHash() refuses a source that is no file", async () => {
  using t = await setUp();
  for (const href of ["https://example.com/k.cu", pathToFileURL(t.dir).href]) {
    const build = { source: new URL(href), defines: {} };
    throws(() => t.cache().sourceHash(build, t.backend, "a1"), {
      failure: "compile",
      message: /^Cannot read the kernel source .*; name a file/,
    });
  }
});
