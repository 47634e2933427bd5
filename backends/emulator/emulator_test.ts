import {
  match,
  notDeepStrictEqual,
  rejects,
  strictEqual,
  throws,
} from "node:assert/strict";
import { EXIT } from "../../bench/model/errors.ts";
import { cuda } from "../cuda/cuda.ts";
import { cudaPath } from "../testdata/cuda_mocks.ts";
import { cxxTest, SHARED } from "../testdata/mocks.ts";
import {
  buildOnce,
  emulatedBackend,
  emulatedDevice,
  emulatorLibrary,
  findCxx,
} from "./emulator.ts";
import { EMULATED, emulatedApi, isEmulated } from "./names.ts";

Deno.test("emulatedApi() lists what there is for any other name", () => {
  strictEqual(emulatedApi("emulator:gfx942"), "hip");
  for (
    const name of [
      "emulator",
      "emulator:",
      "emulator:sm_12",
      "emulator:toString",
      "sm_90a",
    ]
  ) {
    throws(() => emulatedApi(name), {
      name: "UserError",
      message: `No emulated device is named ${name}: give ${
        EMULATED.join(", ")
      }`,
    });
  }
  strictEqual(isEmulated("emulators"), false);
});

Deno.test("findCxx() without a compiler says what was tried, and what to install", () => {
  throws(() => findCxx(["no-such-c++", "nor-this"], "linux"), {
    name: "UserError",
    code: EXIT.nothing,
    message:
      /needs a C\+\+ compiler: tried no-such-c\+\+, nor-this; install one, as in apt-get/,
  });
  throws(() => findCxx(["c++"], "darwin"), /needs Linux, and this is darwin/);
});

Deno.test("findCxx() passes over a clang that does not instrument copies", async () => {
  const folder = await Deno.makeTempDir();
  const clang = (version: number) => {
    const path = `${folder}/clang-${version}`;
    const text = `#!/bin/sh\necho Debian clang version ${version}.0.6\n`;
    Deno.writeTextFileSync(path, text, { mode: 0o755 });
    return path;
  };
  try {
    const [old, fresh] = [clang(14), clang(16)];
    strictEqual(findCxx([old, fresh], "linux").name, fresh);
    throws(
      () => findCxx([old], "linux"),
      /clang-14, which is clang 14 and must be 16 or newer; install one/,
    );
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
});

Deno.test("buildOnce() leaves nothing of what failed", async () => {
  const folder = await Deno.makeTempDir();
  try {
    const path = `${folder}/deep/file`;
    throws(() =>
      buildOnce(path, (to) => {
        Deno.writeTextFileSync(to, "half");
        throw new Error("stopped");
      }), /stopped/);
    throws(() => Deno.statSync(path), Deno.errors.NotFound);
    buildOnce(path, (to) => Deno.writeTextFileSync(to, "whole"));
    buildOnce(path, () => {
      throw new Error("made again");
    });
    strictEqual(Deno.readTextFileSync(path), "whole");
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
});

Deno.test("buildOnce() makes a file once for processes that ask at the same time", async () => {
  const folder = await Deno.makeTempDir();
  const module = new URL("./emulator.ts", import.meta.url).href;
  const code = `import { buildOnce } from "${module}";
buildOnce(${JSON.stringify(`${folder}/file`)}, (to) => {
  Deno.writeTextFileSync(${
    JSON.stringify(`${folder}/log`)
  }, "made\\n", { append: true });
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 200);
  Deno.writeTextFileSync(to, "whole");
});`;
  try {
    const ends = await Promise.all(
      [1, 2, 3].map(() =>
        new Deno.Command(Deno.execPath(), { args: ["eval", code] }).output()
      ),
    );
    strictEqual(ends.every(({ success }) => success), true);
    strictEqual(await Deno.readTextFile(`${folder}/log`), "made\n");
    strictEqual(await Deno.readTextFile(`${folder}/file`), "whole");
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
});

cxxTest("emulatorLibrary() says why it cannot be built, in one line", () => {
  throws(
    () =>
      emulatorLibrary("hip", {
        folder: `${SHARED}emulator`,
        flags: ["-DPAGE=)"],
      }),
    (error: Error) => {
      match(
        error.message,
        /^Cannot build the lane emulator by c\+\+ \(.*error:/,
      );
      strictEqual(error.message.includes("\n"), false);
      return error.name === "UserError";
    },
  );
});

cxxTest(
  "emulatedDevice() finds the one device, named after its architecture",
  () => {
    const { backend, info } = emulatedDevice(
      "emulator:sm_90a",
      SHARED.replace(/\/$/, ""),
    );
    strictEqual(backend.name, "cuda");
    strictEqual(info.name, "emulator sm_90a");
    match(info.driver, /^emulator [0-9a-f]{16}$/);
    strictEqual(info.arch, "sm_90a");
  },
);

cxxTest(
  "emulatedBackend() does not share binaries with the real device",
  () => {
    const emulated = emulatedBackend("emulator:sm_90a", cudaPath());
    notDeepStrictEqual(emulated.target("sm_90a"), cuda().target("sm_90a"));
  },
);

cxxTest(
  "emulatedDevice() has no headers of HIP and Metal, and says so",
  async () => {
    const folder = await Deno.makeTempDir();
    try {
      for (
        const [device, header] of [
          ["emulator:gfx942", "hip/hip_runtime.h"],
          ["emulator:applegpu_g15s", "metal_stdlib"],
        ] as const
      ) {
        const { backend, info } = emulatedDevice(
          device,
          SHARED.replace(/\/$/, ""),
        );
        const source = new URL(`file://${folder}/${info.arch}.txt`);
        Deno.writeTextFileSync(source, `#include <${header}>\n`);
        await rejects(
          () =>
            backend.compiler(info.arch).compile(
              { source, defines: {} },
              `${folder}/out`,
            ),
          {
            message: new RegExp(
              `No such file.*; the emulator has no ${header}, see emulator/`,
            ),
          },
        );
      }
    } finally {
      await Deno.remove(folder, { recursive: true });
    }
  },
);
