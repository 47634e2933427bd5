import { BinaryCache } from "./binary_cache.ts";
import { type Backend, type Build, buildText } from "./device.ts";
import { CaseError, EXIT, UserError } from "../model/errors.ts";
import {
  deepStrictEqual,
  match,
  notStrictEqual,
  ok,
  rejects,
  strictEqual,
  throws,
} from "node:assert/strict";
import { dirname, join } from "node:path";
import { unlessMissing } from "../files/disk.ts";
import { hashOf } from "../files/hash.ts";
import { pathToFileURL } from "node:url";

Deno.test("BinaryCache.get() compiles once, for this process and the next", async () => {
  using t = await setUp();
  const cache = t.cache();
  const first = await cache.get(t.build, t.backend, "a1");
  strictEqual(await cache.get(t.build, t.backend, "a1"), first);
  const again = await t.cache().get(t.build, t.backend, "a1");
  deepStrictEqual(again, first);
  strictEqual(t.compiled(), 1);
  strictEqual(await Deno.readTextFile(first.path), "code 1");
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

Deno.test("BinaryCache.codeHash() changes with code, constants and flags, not with comments", async () => {
  using t = await setUp();
  const hashes = (flags = ["-O3"]) => {
    const target = { arch: "a1", extension: "bin", flags };
    const backend: Backend = { ...t.backend, target: () => target };
    return [{}, { N: 2 }].map((defines) =>
      t.cache().codeHash({ ...t.build, defines }, backend, "a1")
    );
  };
  const before = hashes();
  strictEqual(new Set([...before, ...hashes(["-O2"])]).size, 4);
  await Deno.writeTextFile(join(t.dir, "k.cuh"), "// two\n\n");
  deepStrictEqual(hashes(), before);
  const { codeHash } = await t.cache().get(t.build, t.backend, "a1");
  strictEqual(codeHash, t.cache().codeHash(t.build, t.backend, "a1"));
  await Deno.writeTextFile(join(t.dir, "k.cuh"), "int two;\n");
  strictEqual(new Set([...before, ...hashes()]).size, 4);
});

Deno.test("BinaryCache.codeHash() does not change with code for other architectures", async () => {
  using t = await setUp();
  const hash = (arch: string) => t.cache().codeHash(t.build, t.backend, arch);
  const write = (older: string) =>
    Deno.writeTextFile(
      join(t.dir, "k.cuh"),
      `#if __CUDA_ARCH__ >= 900\nint two;\n#else\n${older}\n#endif\nint three;\n`,
    );
  await Deno.writeTextFile(join(t.dir, "k.cuh"), "int two;\nint three;\n");
  const [newer, older] = [hash("sm_90a"), hash("sm_80")];
  await write("int one;");
  strictEqual(hash("sm_90a"), newer);
  notStrictEqual(hash("sm_80"), older);
  await write("int zero;");
  strictEqual(hash("sm_90a"), newer);
});

Deno.test("BinaryCache.sourceHash() counts a build's own flags, compiler and headers", async () => {
  using t = await setUp();
  const headers = join(t.dir, "headers");
  await Deno.mkdir(headers);
  const write = (name: string, text: string) =>
    Deno.writeTextFile(join(t.dir, name), text);
  await write("headers/own.h", "int own;\n");
  await write("k.cu", '#include "k.cuh"\n#include <own.h>\n#include <no.h>\n');
  // Without its last slash, as people write it.
  const includes = [pathToFileURL(headers)];
  const hashes = () => {
    const builds = [
      t.build,
      { ...t.build, includes },
      { ...t.build, includes, flags: ["-O1"] },
      { ...t.build, includes, compiler: "nvcc" },
    ];
    strictEqual(new Set(builds.map(buildText)).size, builds.length);
    const cache = t.cache();
    strictEqual(new Set(builds.map((b) => cache.contentHash(b))).size, 4);
    return builds.map((b) => cache.sourceHash(b, t.backend, "a1"));
  };
  const before = hashes();
  strictEqual(new Set(before).size, 4);
  await write("headers/own.h", "int other;\n");
  const after = hashes();
  strictEqual(after[0], before[0]);
  strictEqual(new Set([...before, ...after]).size, 7);
});

const INCLUDED: readonly (readonly [string, string, Partial<Build>?])[] = [
  ["without a blank", '#include"own.h"'],
  ["after a splice", '#include \\\n"own.h"'],
  ["by a digraph", '%:include "own.h"'],
  ["by a macro", '#define H "own.h"\n#include H'],
  ["by a macro of a flag", "#include H", { defines: { H: '"own.h"' } }],
  ["by a macro of the compiler", "#include H", { flags: ['-DH="../own.h"'] }],
  ["as data", 'const char a[] = {\n#embed "own.h"\n};'],
  ["from a flag's folder", "#include <own.h>", { flags: ["-IDIR"] }],
  ["from a folder in the next flag", '#include "own.h"', {
    flags: ["-iquote", "DIR/"],
  }],
  ["by a flag", "int a;", { flags: ["-include", "DIR/own.h"] }],
  ["by an object", "int a;", { flags: ["DIR/own.h"] }],
  ["by the assembler", '__asm__(".incbin \\"DIR/own.h\\"");'],
];

for (const [how, text, options = {}] of INCLUDED) {
  Deno.test(`BinaryCache.sourceHash() counts a file that is included ${how}`, async () => {
    using t = await setUp();
    const put = (words: string) => words.replaceAll("DIR", t.dir);
    const flags = options.flags?.map(put);
    // A file of the source's folder is found by its quotes alone.
    const source = pathToFileURL(join(t.dir, flags ? "src/k.cu" : "k.cu"));
    await Deno.mkdir(join(t.dir, "src"));
    await Deno.writeTextFile(source, put(text));
    const build = { ...t.build, ...options, source, ...(flags && { flags }) };
    const hash = () => t.cache().sourceHash(build, t.backend, "a1");
    await Deno.writeTextFile(join(t.dir, "own.h"), "int own;\n");
    const before = hash();
    await Deno.writeTextFile(join(t.dir, "own.h"), "int other;\n");
    notStrictEqual(hash(), before);
  });
}

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
  const caches = [t.cache(), t.cache()];
  const both = await Promise.all(
    caches.map((c) => c.get(t.build, t.backend, "a1")),
  );
  strictEqual(t.compiled(), 2);
  deepStrictEqual(both[0], both[1]);
  const left = [...Deno.readDirSync(join(t.dir, "cache"))].map((e) => e.name);
  strictEqual(left.length, 1, left.join());
  caches.forEach((cache, i) => cache.copyOf(both[i]!));
  caches.forEach((cache) => cache[Symbol.dispose]());
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
        // Like NVRTC's: bytes differ from one compilation to the next.
        await Deno.writeTextFile(binary, `code ${compiled}`);
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

/** What is in the way of an entry, and what is wrong with it. */
const SPOILT: readonly (readonly [
  string,
  (entry: string) => Promise<void>,
  RegExp,
])[] = [
  [
    "another binary",
    (entry) => Deno.writeTextFile(join(entry, "binary.bin"), "other code"),
    /its binary is not the one its manifest describes/,
  ],
  [
    "no binary",
    (entry) => Deno.remove(join(entry, "binary.bin")),
    /No such file/,
  ],
  [
    "half a manifest",
    (entry) => Deno.writeTextFile(join(entry, "manifest.json"), "{"),
    /its manifest is damaged or cut short/,
  ],
  [
    "a manifest of null",
    (entry) => Deno.writeTextFile(join(entry, "manifest.json"), "null"),
    /its manifest is null: it must be an object/,
  ],
  [
    "a manifest without fields",
    (entry) => Deno.writeTextFile(join(entry, "manifest.json"), "{}"),
    /its manifest's field source is missing/,
  ],
  [
    "a manifest that is a folder",
    async (entry) => {
      await Deno.remove(join(entry, "manifest.json"));
      await Deno.mkdir(join(entry, "manifest.json"));
    },
    /directory/,
  ],
  [
    "an entry that is a file",
    async (entry) => {
      await Deno.remove(entry, { recursive: true });
      await Deno.writeTextFile(entry, "");
    },
    /directory/,
  ],
];

for (const [what, spoil, why] of SPOILT) {
  Deno.test(`BinaryCache.get() builds again what has ${what}, unless it may not`, async () => {
    using t = await setUp();
    const { path } = await t.cache().get(t.build, t.backend, "a1");
    await spoil(dirname(path));
    const dir = join(t.dir, "cache");
    const prebuilt = new BinaryCache(dir, { prebuilt: true });
    await rejects(prebuilt.get(t.build, t.backend, "a1"), (error) => {
      ok(error instanceof CaseError, `${error}`);
      strictEqual(error.failure, "compile");
      match(
        error.message,
        /^Cannot use the cached kernel in .*; remove it with `rm -r/,
      );
      match(error.message, why);
      ok(!error.message.includes("\n"), error.message);
      return true;
    });
    const notes: string[] = [];
    const note = (line: string) => void notes.push(line);
    const again = () =>
      new BinaryCache(dir, { note }).get(t.build, t.backend, "a1");
    const built = await again();
    strictEqual(await Deno.readTextFile(built.path), "code 2");
    deepStrictEqual(await again(), built);
    strictEqual(t.compiled(), 2);
    strictEqual(notes.length, 1);
    match(notes[0]!, /^The cached kernel in .* is built again: /);
    match(notes[0]!, why);
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
    code: EXIT.usage,
    message: /^Cannot keep kernels in .*below: .*--kernel-cache DIR$/,
  });
  const file = join(t.dir, "k.cu");
  await rejects(new BinaryCache(file).get(t.build, t.backend, "a1"), {
    code: EXIT.usage,
    message: /^Cannot keep kernels in .*: it is not a folder; make room/,
  });
});

Deno.test("BinaryCache.get() tells a full disk from a kernel that does not compile", async () => {
  using t = await setUp();
  const full = Object.assign(new Error("No space left on device"), {
    code: "ENOSPC",
  });
  const log = "ld: final link failed: No space left on device\nld returned 1";
  for (
    const error of [full, new CaseError("compile", "ld: 1", { cause: log })]
  ) {
    const compiler = () => ({
      signature: "ld 1",
      compile: () => Promise.reject(error),
    });
    await rejects(t.cache().get(t.build, { ...t.backend, compiler }, "a1"), {
      code: EXIT.usage,
      message:
        /^Cannot keep kernels in .*: (ld: final link failed: )?No space left on device; make room or make the folder writable, or name another with --kernel-cache DIR$/,
    });
  }
});

Deno.test("BinaryCache.get() keeps a kernel whose file has the longest name", async () => {
  using t = await setUp();
  const source = join(t.dir, `${"k".repeat(252)}.cu`);
  await Deno.writeTextFile(source, "int main;\n");
  const build = { ...t.build, source: pathToFileURL(source) };
  ok((await t.cache().get(build, t.backend, "a1")).path);
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

Deno.test("BinaryCache.sourceHash() refuses an include that never ends", async () => {
  using t = await setUp();
  const device = join(t.dir, "device.cuh");
  await Deno.symlink("/dev/null", device);
  await Deno.writeTextFile(join(t.dir, "k.cu"), '#include "device.cuh"\n');
  throws(() => t.cache().sourceHash(t.build, t.backend, "a1"), {
    failure: "compile",
    message: /device\.cuh is not a regular file; name a file/,
  });
});

Deno.test("BinaryCache.sourceHash() leaves a missing include to the compiler, and reads none in a comment", async () => {
  using t = await setUp();
  const text = `/*
#include "k.cuh/old.cuh"
*/
#define SITE "https://example.com/%s?#"
#define OTHER "//host/share"
#define LDG "ld.global.nc.L1::no_allocate.L2::128B.f32"
#define LONG "${"x".repeat(5000)}"
#if __has_include("new.cuh")
#include "new.cuh"
#include "k.cu/other.cuh"
#endif
int main;
`;
  await Deno.writeTextFile(join(t.dir, "k.cu"), text);
  const read = () => t.cache().sourceHash(t.build, t.backend, "a1");
  const without = read();
  await Deno.writeTextFile(join(t.dir, "new.cuh"), "int other;");
  notStrictEqual(read(), without);
});

/** Who may write to a cache besides its user, and what is said about it. */
const SHARED: readonly (readonly [string, (entry: string) => void, RegExp])[] =
  [
    [
      "a folder that everybody may write to",
      (entry) => Deno.chmodSync(dirname(entry), 0o777),
      /^Cannot run what is in .*cache: other users may write to it \(mode 0777\); if all of it is yours, run `chmod 700 .*cache`, or name another folder with --kernel-cache DIR$/,
    ],
    [
      "a folder that its group may write to",
      (entry) => Deno.chmodSync(dirname(entry), 0o770),
      /other users may write to it \(mode 0770\)/,
    ],
    [
      "an entry that everybody may write to",
      (entry) => Deno.chmodSync(entry, 0o777),
      /^Cannot run what is in .*cache\/k\.\w+: other users may write to it/,
    ],
    ...(Deno.uid() === 0
      ? [
        [
          "a folder of another user",
          (entry: string) => Deno.chownSync(dirname(entry), 12345, 12345),
          /^Cannot run what is in .*cache: it belongs to user 12345, and this is user 0; name another folder/,
        ] as const,
      ]
      : []),
  ];

for (const [what, share, message] of SHARED) {
  Deno.test({
    name: `BinaryCache.get() refuses what is planted in ${what}`,
    ignore: Deno.build.os === "windows",
    async fn() {
      using t = await setUp();
      const { path } = await t.cache().get(t.build, t.backend, "a1");
      await Deno.writeTextFile(path, "planted");
      const manifest = join(dirname(path), "manifest.json");
      const { binaryHash: _, ...rest } = JSON.parse(
        await Deno.readTextFile(manifest),
      );
      const binaryHash = hashOf("planted");
      await Deno.writeTextFile(
        manifest,
        JSON.stringify({ ...rest, binaryHash }),
      );
      share(dirname(path));
      await rejects(t.cache().get(t.build, t.backend, "a1"), (error) => {
        ok(error instanceof UserError, `${error}`);
        match(error.message, message);
        return true;
      });
    },
  });
}

const UMASK_0 = `
import { lockFile } from ${
  JSON.stringify(new URL("../files/lock.ts", import.meta.url).href)
};
import { privateFolder } from ${
  JSON.stringify(new URL("../files/private_folder.ts", import.meta.url).href)
};
Deno.umask(0);
const [dir] = Deno.args;
// The timing cache may be there first.
lockFile(dir + "/locked/timings.json")[Symbol.dispose]();
privateFolder(dir + "/kernels/emulated");
`;

Deno.test({
  name: "privateFolder() makes a folder for its user alone under any umask",
  ignore: Deno.build.os === "windows",
  async fn() {
    const dir = await Deno.makeTempDir();
    try {
      // In a process of its own, since all threads of one share its umask.
      const { success, stderr } = await new Deno.Command(Deno.execPath(), {
        args: ["eval", UMASK_0, dir],
      }).output();
      ok(success, new TextDecoder().decode(stderr));
      for (const name of ["locked", "kernels", "kernels/emulated"]) {
        const path = join(dir, name);
        strictEqual(Deno.statSync(path).mode! & 0o777, 0o700, path);
      }
    } finally {
      await Deno.remove(dir, { recursive: true });
    }
  },
});

Deno.test("BinaryCache.copyOf() has what was hashed, whatever becomes of the entry", async () => {
  using t = await setUp();
  using cache = t.cache();
  const built = await cache.get(t.build, t.backend, "a1");
  const copy = cache.copyOf(built);
  strictEqual(Deno.statSync(dirname(copy)).mode! & 0o777, 0o700);
  await Deno.writeTextFile(built.path, "planted");
  strictEqual(cache.copyOf(built), copy);
  strictEqual(await Deno.readTextFile(copy), "code 1");
  using other = t.cache();
  throws(() => other.copyOf(built), {
    failure: "compile",
    message: /its binary is not the one its manifest describes/,
  });
  cache[Symbol.dispose]();
  strictEqual(unlessMissing(() => Deno.statSync(copy)), undefined);
});

Deno.test("BinaryCache.copyOf() copies from a disk that takes nothing", async () => {
  using t = await setUp();
  const built = await t.cache().get(t.build, t.backend, "a1");
  using cache = new BinaryCache("/nowhere/at/all");
  strictEqual(await Deno.readTextFile(cache.copyOf(built)), "code 1");
});
