import { assertEquals } from "@std/assert";
import { openJournal } from "../bench/worker/journal.ts";
import type { Event } from "../bench/worker/protocol.ts";
import { INFO } from "../bench/testdata/jobs.ts";
import { keyFor } from "../bench/testdata/rows.ts";
import { CrashedConfigs } from "./crashed_configs.ts";

const crash = (config: string): Event => ({
  ...{ event: "config", key: keyFor("k"), config, status: "crash", note: "!" },
});

Deno.test("CrashedConfigs are those of this start and of earlier ones with the same sources", () => {
  const folder = Deno.makeTempDirSync();
  try {
    {
      using journal = openJournal(folder, INFO);
      const losses = new CrashedConfigs(
        journal,
        (_, config) => `source of ${config}`,
      );
      losses.take(crash("BM=1"), 0);
      losses.take(crash("BM=2"), 1);
      losses.take({ ...crash("BM=3"), status: "oom" } as Event, 1);
      assertEquals(losses.all.map(({ config }) => config), ["BM=1", "BM=2"]);
    }
    using journal = openJournal(folder, INFO);
    const mended = new CrashedConfigs(
      journal,
      (_, config) => config === "BM=1" ? "mended" : `source of ${config}`,
    );
    assertEquals(mended.all.map(({ config }) => config), ["BM=2"]);
    assertEquals(new CrashedConfigs(journal, () => undefined).all, []);
  } finally {
    Deno.removeSync(folder, { recursive: true });
  }
});
