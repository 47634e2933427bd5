import { assertEquals } from "@std/assert";
import { INFO } from "../testdata/jobs.ts";
import { fingerprint } from "./fingerprint.ts";
import { olderRun } from "./older_run.ts";

Deno.test("olderRun() finds a run that differs in its version alone", async () => {
  const root = await Deno.makeTempDir();
  const keep = async (name: string, text: string) => {
    await Deno.mkdir(`${root}/${name}`);
    await Deno.writeTextFile(`${root}/${name}/run.json`, text);
  };
  try {
    assertEquals(olderRun(`${root}/none`, INFO), undefined);
    const old = { ...INFO, harness: "0.0.9" };
    await keep(fingerprint(INFO), JSON.stringify(INFO));
    await keep("damaged", "{");
    const other = { ...old, runs: 7 };
    await keep(fingerprint(other), JSON.stringify(other));
    assertEquals(olderRun(root, INFO), undefined);
    await keep(fingerprint(old), JSON.stringify(old));
    const folder = `${root}/${fingerprint(old)}`;
    assertEquals(olderRun(root, INFO), { folder, info: old });
  } finally {
    await Deno.remove(root, { recursive: true });
  }
});
