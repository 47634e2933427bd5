import { assertEquals, assertMatch } from "@std/assert";
import type { Event } from "./protocol.ts";
import { SearchLog } from "./search_log.ts";
import { keyFor } from "../testdata/rows.ts";

type ConfigEvent = Extract<Event, { event: "config" }>;

const key = { ...keyFor("k"), params: 'a="b"' };
const OK: ConfigEvent = {
  ...{ event: "config", key, config: "BM=16", status: "ok", median_us: 2.5 },
  note: "",
};
const OOM: ConfigEvent = {
  ...{ event: "config", key, config: "BM=32", status: "oom", note: "a,b" },
};
const CRASH: ConfigEvent = {
  ...{ event: "config", key, config: "BM=64", status: "crash" },
  note: "The worker was killed,\nsaid nobody",
};

function inFolder(work: (path: string) => void): void {
  const folder = Deno.makeTempDirSync();
  try {
    work(`${folder}/search.csv`);
  } finally {
    Deno.removeSync(folder, { recursive: true });
  }
}

function write(path: string): void {
  using log = new SearchLog(path);
  log.append(OK, { repeat: 0 });
  log.append(OOM, { repeat: 1 });
  log.append(CRASH, { repeat: 1, sourceHash: "beef" });
}

Deno.test("SearchLog.append() has a line for each config that was tried", () => {
  inFolder((path) => {
    {
      using log = new SearchLog(path);
      log.append(OK, { repeat: 0 });
      log.append(OOM, { repeat: 1 });
    }
    const text = Deno.readTextFileSync(path);
    const ends = text.split("\n").map((l) => l.split(",").slice(13).join());
    assertEquals(ends, [
      "config,status,median_us,note,repeat,source_hash",
      "BM=16,ok,2.5,,0,",
      'BM=32,oom,,"a,b",1,',
      "",
    ]);
  });
});

Deno.test("SearchLog.lost is what an earlier start lost, with its sources", () => {
  inFolder((path) => {
    write(path);
    using log = new SearchLog(path);
    const { event: _, ...lost } = CRASH;
    assertEquals<readonly unknown[]>(log.lost, [{
      ...lost,
      sourceHash: "beef",
    }]);
    assertEquals(log.notes, []);
  });
});

Deno.test("SearchLog cuts off a torn last line and goes on after it", () => {
  inFolder((path) => {
    write(path);
    const whole = Deno.readTextFileSync(path);
    Deno.writeTextFileSync(path, 's,"', { append: true });
    using log = new SearchLog(path);
    assertEquals(log.lost.length, 1);
    assertEquals(Deno.readTextFileSync(path), whole);
  });
});

Deno.test("SearchLog begins again where the table is another or damaged, and says so", () => {
  for (
    const damage of [
      (text: string) => text.replace(",source_hash\n", "\n"),
      (text: string) => text.replace("BM=64", "BM=64,and more"),
      (text: string) => text.replace("BM=64", 'BM"=64"'),
      () => "something else\n",
    ]
  ) {
    inFolder((path) => {
      write(path);
      Deno.writeTextFileSync(path, damage(Deno.readTextFileSync(path)));
      {
        using log = new SearchLog(path);
        assertEquals<readonly unknown[]>(log.lost, [], `${damage}`);
        assertMatch(
          log.notes.join(),
          /^Left out .*search\.csv, which is damaged/,
        );
        log.append(CRASH, { repeat: 0, sourceHash: "beef" });
      }
      using log = new SearchLog(path);
      assertEquals(log.lost.length, 1);
      assertEquals(log.notes, []);
    });
  }
});
