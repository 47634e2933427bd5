import { assertEquals } from "@std/assert";
import { keyFor } from "../bench/testdata/rows.ts";
import { Begun } from "./begun.ts";

Deno.test("Begun blames the case at work at the end of two starts that were killed", async () => {
  const folder = await Deno.makeTempDir();
  const path = `${folder}/begun.json`;
  const [a, b] = [keyFor("a"), keyFor("b")];
  const on = new AbortController().signal;
  const start = (...keys: readonly (typeof a)[]) => {
    const begun = new Begun(path, on);
    for (const key of keys) begun.begin(key, 0);
    return begun;
  };
  assertEquals(start(a, b).last, undefined);
  const second = start(b);
  assertEquals([second.last, second.isBlamed], [
    { key: b, repeat: 0, starts: 1 },
    false,
  ]);
  assertEquals(new Begun(path, on).isBlamed, true);
  // Another case, another repeat.
  assertEquals(start(a).isBlamed, true);
  assertEquals(new Begun(path, on).isBlamed, false);
  new Begun(path, on).begin(a, 1);
  assertEquals(new Begun(path, on).isBlamed, false);
  Deno.writeTextFileSync(path, "{");
  assertEquals(new Begun(path, on).last, undefined);
  {
    using _ended = start(a);
  }
  assertEquals([...Deno.readDirSync(folder)], []);
  const stop = new AbortController();
  const stopped = new Begun(path, stop.signal);
  stopped.begin(a, 0);
  stop.abort();
  stopped.begin(b, 0);
  assertEquals([...Deno.readDirSync(folder)], [], "it was stopped");
  await Deno.remove(folder, { recursive: true });
});
