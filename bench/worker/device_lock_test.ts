import { assertEquals, assertMatch } from "@std/assert";
import { temporary } from "../testdata/temporary.ts";
import { join } from "node:path";
import { lockDevice } from "./device_lock.ts";

const never = new AbortController().signal;

/** Takes longer than whoever waits takes to ask again. */
const askedAgain = () => new Promise((resolve) => setTimeout(resolve, 500));

/** Starts a process that runs `code`, in which `lock(note)` waits for the device "GPU". */
function start(folder: string, what: string, code: string): Deno.ChildProcess {
  const module = new URL("device_lock.ts", import.meta.url).href;
  const options = JSON.stringify({ folder, what });
  return new Deno.Command(Deno.execPath(), {
    args: [
      "eval",
      `import { lockDevice } from "${module}";
const { signal } = new AbortController();
const lock = (note) => lockDevice("GPU", { ...${options}, signal, note });
${code}`,
    ],
    stdout: "piped",
  }).spawn();
}

Deno.test("lockDevice() waits for the device, and names who has it", async () => {
  using folder = temporary();
  const lines: string[] = [];
  const lock = (what: string, signal = never) =>
    lockDevice("GPU-1/2", {
      folder: folder.path,
      what,
      signal,
      note: (line) => lines.push(line),
    });
  const stop = new AbortController();
  {
    using first = await lock("a, b");
    assertEquals([first !== undefined, lines], [true, []]);
    const second = lock("c", stop.signal);
    stop.abort();
    assertEquals(await second, undefined);
    assertMatch(
      lines.join("\n"),
      /^Waiting for GPU-1\/2, which another run has: process \d+ of \S+, which measures a, b since \S+Z$/,
    );
  }
  using third = await lock("d");
  assertEquals([third !== undefined, lines.length], [true, 1]);
  const [entry, ...more] = [...Deno.readDirSync(folder.path)];
  assertEquals([entry!.name, more], ["mnkbench-GPU-1_2.lock", []]);
  const { mode } = Deno.statSync(`${folder.path}/${entry!.name}`);
  assertEquals(mode! & 0o777, 0o666);
});

Deno.test("lockDevice() names each run that the device goes to before", async () => {
  using folder = temporary();
  const lines: string[] = [];
  const said = Promise.withResolvers<void>();
  const lock = (what: string) =>
    lockDevice("GPU", {
      folder: folder.path,
      signal: never,
      what,
      note: (line) => {
        lines.push(line);
        said.resolve();
      },
    });
  const first = await lock("a");
  const waits = lock("c");
  await said.promise;
  first![Symbol.dispose]();
  {
    using _second = await lock("b");
    await askedAgain();
  }
  using third = await waits;
  assertEquals(third !== undefined, true);
  assertMatch(lines.join("\n"), /^.* measures a since .*\n.* measures b since/);
});

Deno.test("lockDevice() lets one of eight processes in at a time", async () => {
  using folder = temporary();
  const count = join(folder.path, "count");
  Deno.writeTextFileSync(count, "0");
  const path = JSON.stringify(count);
  const ends = Array.from({ length: 8 }, (_, i) =>
    start(
      folder.path,
      `${i}`,
      `const lines = [];
for (let i = 0; i < 3; i++) {
  using _lock = await lock((line) => lines.push(line));
  const count = Number(await Deno.readTextFile(${path}));
  await new Promise((resolve) => setTimeout(resolve, 5));
  await Deno.writeTextFile(${path}, \`\${count + 1}\`);
}
console.log(lines.join("\\n"));`,
    ).output());
  const said = (await Promise.all(ends)).map(({ code, stdout }) => {
    assertEquals(code, 0);
    return new TextDecoder().decode(stdout);
  });
  assertEquals(Deno.readTextFileSync(count), "24");
  for (const line of said.join("").split("\n").filter((line) => line)) {
    assertMatch(
      line,
      /^Waiting for GPU, .* has: (process \d+ of .* measures \d since|it does not say)/,
    );
  }
});

Deno.test("lockDevice() has the device once the process that had it is killed", async () => {
  using folder = temporary();
  const code = `using _lock = await lock(console.log);
console.log("locked");
await new Promise((resolve) => setTimeout(resolve, 60_000));`;
  const holder = start(folder.path, "a", code);
  const reader = holder.stdout.getReader();
  await reader.read();
  const lines: string[] = [];
  using lock = await lockDevice("GPU", {
    folder: folder.path,
    signal: never,
    what: "b",
    note: (line) => {
      lines.push(line);
      holder.kill("SIGKILL");
    },
  });
  assertEquals(lock !== undefined, true);
  assertEquals(lines.length, 1);
  assertMatch(
    lines[0]!,
    new RegExp(`: process ${holder.pid} of .* measures a`),
  );
  await reader.cancel();
  await holder.status;
});

Deno.test("lockDevice() waits for the file that others lock, not for one that was removed", async () => {
  using folder = temporary();
  const order: string[] = [];
  const said = Promise.withResolvers<void>();
  const lock = (what: string) =>
    lockDevice("GPU", {
      folder: folder.path,
      signal: never,
      what,
      note: () => said.resolve(),
    });
  const first = await lock("a");
  const waits = lock("c").then((lock) => {
    order.push("c");
    return lock;
  });
  await said.promise;
  Deno.removeSync(join(folder.path, "mnkbench-GPU.lock"));
  const second = await lock("b");
  first![Symbol.dispose]();
  await askedAgain();
  order.push("b");
  second![Symbol.dispose]();
  using _third = await waits;
  assertEquals(order, ["b", "c"]);
});

for (const kind of ["folder", "link"]) {
  Deno.test(`lockDevice() says that a ${kind} cannot be locked, and leaves it`, async () => {
    using folder = temporary();
    const path = join(folder.path, "mnkbench-GPU.lock");
    const other = join(folder.path, "other");
    Deno.writeTextFileSync(other, "of another");
    if (kind === "folder") Deno.mkdirSync(path);
    else Deno.symlinkSync(other, path);
    const lines: string[] = [];
    {
      using lock = await lockDevice("GPU", {
        folder: folder.path,
        signal: never,
        what: "a",
        note: (line) => lines.push(line),
      });
      assertEquals(lock !== undefined, true);
    }
    assertEquals(lines, [
      `Cannot lock GPU: ${path} is a ${kind}; see that no other run measures on it`,
    ]);
    assertEquals(Deno.readTextFileSync(other), "of another");
    assertEquals(Deno.lstatSync(path).isFile, false);
  });
}
