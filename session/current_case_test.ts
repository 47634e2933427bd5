import { assertEquals } from "@std/assert";
import { keyFor } from "../bench/testdata/rows.ts";
import { CurrentCaseFile } from "./current_case.ts";

Deno.test("CurrentCaseFile blames the case at work at the end of two starts that were killed", async () => {
  const folder = await Deno.makeTempDir();
  const path = `${folder}/begun.json`;
  const [a, b] = [keyFor("a"), keyFor("b")];
  const on = new AbortController().signal;
  const start = (...keys: readonly (typeof a)[]) => {
    const begun = new CurrentCaseFile(path, on);
    for (const key of keys) begun.begin(key, 0);
    return begun;
  };
  assertEquals(start(a, b).last, undefined);
  const second = start(b);
  assertEquals([second.last, second.isBlamed], [
    { key: b, repeat: 0, starts: 1 },
    false,
  ]);
  assertEquals(new CurrentCaseFile(path, on).isBlamed, true);
  // Another case, another repeat.
  assertEquals(start(a).isBlamed, true);
  assertEquals(new CurrentCaseFile(path, on).isBlamed, false);
  new CurrentCaseFile(path, on).begin(a, 1);
  assertEquals(new CurrentCaseFile(path, on).isBlamed, false);
  Deno.writeTextFileSync(path, "{");
  assertEquals(new CurrentCaseFile(path, on).last, undefined);
  {
    using _ended = start(a);
  }
  assertEquals([...Deno.readDirSync(folder)], []);
  const stop = new AbortController();
  const stopped = new CurrentCaseFile(path, stop.signal);
  stopped.begin(a, 0);
  stop.abort();
  stopped.begin(b, 0);
  assertEquals([...Deno.readDirSync(folder)], [], "it was stopped");
  await Deno.remove(folder, { recursive: true });
});
