import { assertEquals, assertMatch } from "@std/assert";
import { temporary } from "../testdata/temporary.ts";
import { lockDevice } from "./device_lock.ts";

const never = new AbortController().signal;

Deno.test("lockDevice() waits for the device, and names who has it", async () => {
  using folder = temporary();
  const lines: string[] = [];
  const lock = (what: string, signal = never) =>
    lockDevice("GPU-1/2", {
      ...{ folder: folder.path, what, signal },
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

Deno.test("lockDevice() follows no link, and says that it cannot lock", async () => {
  using folder = temporary();
  const { path } = folder;
  Deno.writeTextFileSync(`${path}/other`, "of another");
  Deno.symlinkSync(`${path}/other`, `${path}/mnkbench-GPU.lock`);
  const lines: string[] = [];
  using lock = await lockDevice("GPU", {
    ...{ folder: path, signal: never, what: "a" },
    note: (line) => lines.push(line),
  });
  assertEquals(lock !== undefined, true);
  assertMatch(
    lines.join("\n"),
    /^Cannot lock GPU: .*mnkbench-GPU\.lock is not a regular file; see that/,
  );
  assertEquals(Deno.readTextFileSync(`${path}/other`), "of another");
});
