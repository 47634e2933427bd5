import { cpu, cpuBackend } from "./cpu.ts";
import { type Arg, f32, i32, i64, mem } from "../../bench/device/queue.ts";
import { CaseError } from "../../bench/model/errors.ts";
import { deepEqual, equal, ok, rejects, throws } from "node:assert/strict";
import { pathToFileURL } from "node:url";

const info = cpu.find().devices[0]!;
const hasCompiler = (() => {
  try {
    cpu.compiler(info.arch);
    return true;
  } catch (error) {
    if (error instanceof CaseError) return false;
    throw error;
  }
})();
const skip = hasCompiler ? "" : " (ignored: no C compiler)";
const needsCompiler = { ignore: !hasCompiler };
const ONE = { grid: [1, 1, 1], block: [1, 1, 1] } as const;

/** A failure's kind and text. */
function failure(kind: string, text: RegExp): (error: unknown) => boolean {
  return (error) => {
    ok(error instanceof CaseError, `${error}`);
    equal(error.failure, kind);
    ok(text.test(error.message), error.message);
    ok(!error.message.includes("\n"), error.message);
    return true;
  };
}

/** Compiles `code` in a folder of its own and hands the binary to `use`. */
async function withBinary(
  code: string,
  use: (binary: string) => void | Promise<void>,
  defines: Record<string, string | number> = {},
): Promise<void> {
  const folder = await Deno.makeTempDir();
  try {
    await Deno.writeTextFile(`${folder}/a b.c`, code);
    const source = pathToFileURL(`${folder}/a b.c`);
    const binary = `${folder}/out.so`;
    await cpu.compiler(info.arch).compile({ source, defines }, binary);
    await use(binary);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

Deno.test("cpu.find() describes this machine", () => {
  const { devices, reason } = cpu.find();
  equal(reason, "");
  equal(devices.length, 1);
  equal(info.arch, Deno.build.arch);
  equal(info.units, navigator.hardwareConcurrency);
  ok(info.name.length > 0);
  ok(info.cacheBytes >= 32 * 1024, `${info.cacheBytes}`);
  ok(info.flushBytes >= 2 * info.cacheBytes && info.flushBytes >= 64 << 20);
});

Deno.test("cpu.target() keeps binaries portable within an architecture", () => {
  const { flags, extension } = cpu.target("x86_64");
  equal(extension, "so");
  ok(!flags.some((flag) => flag.startsWith("-march")));
});

Deno.test(
  `step() passes every kind of argument${skip}`,
  needsCompiler,
  async () => {
    const code = `
    #include <stdint.h>
    struct big { int64_t x[3]; };
    void take(double *out, int i, unsigned u, long long l, float f, double d, const struct big *b) {
      out[0] = i; out[1] = u; out[2] = (double)l; out[3] = f; out[4] = d * SCALE;
      out[5] = (double)b->x[2]; out[6] = (double)((uintptr_t)b % 64);
    }`;
    await withBinary(code, (binary) => {
      using device = cpu.open(info);
      using out = device.alloc(7 * 8);
      using module = device.load(binary);
      const bytes = new Uint8Array(new BigInt64Array([1n, 2n, 3n]).buffer);
      const args: Arg[] = [
        mem(out),
        i32(-5),
        { kind: "u32", value: 4294967295 },
        i64(2 ** 40),
        f32(0.5),
        { kind: "f64", value: 0.1 },
        { kind: "bytes", bytes, align: 64 },
      ];
      const step = module.program("take").step(args, ONE);
      // What a step was given is its own from then on.
      bytes.fill(0);
      step.enqueue();
      deepEqual(
        [...new Float64Array(out.download().buffer)],
        [-5, 4294967295, 2 ** 40, 0.5, 0.2, 3, 0],
      );
      equal(step.capturable, false);
    }, { SCALE: 2 });
  },
);

Deno.test(
  `program() fails on a missing entry${skip}`,
  needsCompiler,
  async () => {
    await withBinary("void here(void) {}", (binary) => {
      using device = cpu.open(info);
      using module = device.load(binary);
      module.program("here").step([], ONE).enqueue();
      throws(
        () => module.program("gone"),
        failure("launch", /^Cannot load gone: its source has no function/),
      );
    });
  },
);

Deno.test("program() fails on a file that is no library", async () => {
  const file = await Deno.makeTempFile();
  try {
    await Deno.writeTextFile(file, "not a library");
    using device = cpu.open(info);
    using module = device.load(file);
    throws(() => module.program("f"), failure("launch", /Cannot load f/));
  } finally {
    await Deno.remove(file);
  }
});

Deno.test("interval() measures the work between", () => {
  using device = cpu.open(info);
  using interval = device.interval();
  ok(Number.isNaN(interval.nanoseconds()));
  const spin = (ms: number) => {
    const end = performance.now() + ms;
    while (performance.now() < end);
  };
  interval.measure(() => spin(2));
  const ns = interval.nanoseconds();
  ok(ns >= 2e6 && ns < 1e9, `${ns}`);
});

Deno.test("interval() counts whole nanoseconds", () => {
  using device = cpu.open(info);
  using interval = device.interval();
  for (let i = 0; i < 8; i++) {
    interval.measure(() => {});
    ok(Number.isInteger(interval.nanoseconds()), `${interval.nanoseconds()}`);
  }
});

Deno.test("open() refuses another architecture", () => {
  throws(
    () => cpu.open({ ...info, arch: "riscv128" }),
    failure("launch", /riscv128/),
  );
});

Deno.test(
  `instruments have the entries of CUDA's${skip}`,
  needsCompiler,
  async () => {
    const source = await Deno.readTextFile(cpu.instruments);
    const folder = await Deno.makeTempDir();
    try {
      ok(source.includes("load_only"));
      const binary = `${folder}/i.so`;
      const build = { source: cpu.instruments, defines: {} };
      await cpu.compiler(info.arch).compile(build, binary);
      using device = cpu.open(info);
      using sink = device.alloc(4);
      using data = device.alloc(1 << 20);
      using module = device.load(binary);
      module.program("empty").step([], ONE).enqueue();
      module.program("filler").step([mem(sink), i32(1000)], ONE).enqueue();
      for (const bytes of [0, 1, 255, 1 << 20]) {
        for (const entry of ["read_flush", "load_only"]) {
          module.program(entry).step([mem(data), i64(bytes), mem(sink)], ONE)
            .enqueue();
        }
      }
      deepEqual([...sink.download()], [0, 0, 0, 0]);
    } finally {
      await Deno.remove(folder, { recursive: true });
    }
  },
);

Deno.test("cpu.compiler() says in one line what was tried", () => {
  const none = cpuBackend({ compilers: ["no-such-cc", "no-such-gcc"] });
  throws(
    () => none.compiler(info.arch),
    failure("compile", /tried no-such-cc, no-such-gcc; install/),
  );
  // Nor does another stand in for the one that a kernel asks for.
  const source = new URL("file:///k.c");
  throws(
    () => cpuBackend().compiler(info.arch, { source, compiler: "own-cc" }),
    failure("compile", /tried own-cc; install/),
  );
});

Deno.test({
  name: "cpu.compiler() does not wait for one that hangs",
  ignore: Deno.build.os === "windows",
  async fn() {
    const folder = await Deno.makeTempDir();
    const name = `${folder}/cc`;
    await Deno.writeTextFile(name, "#!/bin/sh\nsleep 30; true\n");
    await Deno.chmod(name, 0o755);
    const hung = cpuBackend({ compilers: [name], patienceMs: 300 });
    throws(
      () => hung.compiler(info.arch),
      failure(
        "compile",
        /^cc --version did not end within 0\.3 s and was kill/,
      ),
    );
    await Deno.remove(folder, { recursive: true });
  },
});

Deno.test("cpu.compiler() wants a cross compiler for another architecture", () => {
  throws(
    () => cpu.compiler("riscv128"),
    failure("compile", /riscv128.*tried riscv128-linux-gnu-gcc/),
  );
});

Deno.test(
  `cpu.compiler() names the tool and its version${skip}`,
  needsCompiler,
  () => {
    ok(/^\w[\w-]* \d+\.\d+/.test(cpu.compiler(info.arch).signature));
  },
);

Deno.test(
  `compile() fails with the first error, the log as cause${skip}`,
  needsCompiler,
  async () => {
    await rejects(
      withBinary(
        "int f(void) { return missing; }\nint g(void) { return lost; }",
        () => {},
      ),
      (error) => {
        failure("compile", /^a b\.c:1:\d+: error: .*missing/)(error);
        const log = (error as CaseError).cause;
        ok(typeof log === "string" && log.includes("lost"), `${log}`);
        return true;
      },
    );
  },
);

function oom(bytes: number): (error: unknown) => boolean {
  return (error) =>
    error instanceof CaseError && error.failure === "oom" &&
    error.message.includes(`${bytes} bytes`) && !error.message.includes("\n");
}

Deno.test("alloc() aligns to 64 bytes", () => {
  using device = cpu.open(info);
  for (const bytes of [0, 1, 63, 64, 1000, 1 << 20]) {
    using memory = device.alloc(bytes);
    equal(memory.address % 64n, 0n, `${bytes}`);
    equal(memory.bytes, bytes);
    equal(memory.host?.length, bytes);
  }
});

Deno.test("alloc() fails with oom", () => {
  using device = cpu.open(info);
  throws(() => device.alloc(2 ** 50), oom(2 ** 50));
});

Deno.test("alloc() fails with oom for more than the machine has free", () => {
  using device = cpu.open(info);
  const bytes = 2 * Deno.systemMemoryInfo().total;
  throws(() => device.alloc(bytes), oom(bytes));
});

Deno.test("slice() shares the bytes, download() copies them", () => {
  using device = cpu.open(info);
  using memory = device.alloc(8);
  memory.upload(Uint8Array.of(0, 1, 2, 3, 4, 5, 6, 7));
  const part = memory.slice(2, 4);
  equal(part.address, memory.address + 2n);
  const before = part.download();
  part.fill(9);
  deepEqual([...memory.download()], [0, 1, 9, 9, 9, 9, 6, 7]);
  deepEqual([...before], [2, 3, 4, 5]);
  throws(() => memory.slice(6, 4), RangeError);
  part[Symbol.dispose]();
  equal(memory.host?.length, 8);
});

Deno.test("dispose frees the memory at once, and may be repeated", () => {
  using device = cpu.open(info);
  const memory = device.alloc(1 << 20);
  memory[Symbol.dispose]();
  memory[Symbol.dispose]();
  equal(memory.host?.length, 0);
});
