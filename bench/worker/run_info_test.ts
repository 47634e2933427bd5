import { assertEquals, assertMatch, assertNotEquals } from "@std/assert";
import { INFO } from "../testdata/jobs.ts";
import { canonicalJson, fingerprint, olderRun } from "./run_info.ts";

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

Deno.test("fingerprint() is 12 digits that stay the same", () => {
  assertMatch(fingerprint(INFO), /^[0-9a-f]{12}$/);
  const again = structuredClone(INFO);
  assertEquals(fingerprint(again), fingerprint(INFO));
});

Deno.test("fingerprint() does not count the command line, the time and the cache's folder", () => {
  const settings = { ...INFO.settings, cacheDir: "elsewhere" };
  const other = { ...INFO, settings, command: ["x"], started: "y" };
  assertEquals(fingerprint(other), fingerprint(INFO));
});

Deno.test("fingerprint() counts everything else", () => {
  const { selection, settings } = INFO;
  const others = [
    ...Object.keys(selection).map((name) => ({
      ...INFO,
      selection: { ...selection, [name]: ["other"] },
    })),
    ...Object.keys(settings).filter((name) => name !== "cacheDir").map((
      name,
    ) => ({ ...INFO, settings: { ...settings, [name]: "other" } })),
    { ...INFO, runs: 2 },
    { ...INFO, harness: "0.2.0" },
    { ...INFO, device: "Fake (2)" },
    { ...INFO, arch: "other" },
  ];
  const all = new Set([INFO, ...others].map(fingerprint));
  assertEquals(all.size, others.length + 1);
});

Deno.test("canonicalJson() sorts keys at every depth and keeps the order of lists", () => {
  assertEquals(
    canonicalJson({ b: [{ d: null, c: "x" }, 2, 1], a: undefined, A: 1 }),
    '{"A":1,"b":[{"c":"x","d":null},2,1]}',
  );
  assertNotEquals(canonicalJson([1, 2]), canonicalJson([2, 1]));
});
