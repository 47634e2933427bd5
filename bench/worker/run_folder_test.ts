import { assert, assertEquals, assertMatch, assertThrows } from "@std/assert";
import { UserError } from "../model/errors.ts";
import { INFO } from "../testdata/jobs.ts";
import { ManualClock } from "../testdata/manual_clock.ts";
import { timedRow } from "../testdata/rows.ts";
import { realClock } from "./clock.ts";
import { Journal } from "./journal.ts";
import {
  fingerprint,
  olderRun,
  RunFolder,
  runsInProgress,
} from "./run_folder.ts";
import { temporary } from "../testdata/temporary.ts";

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

Deno.test("runsInProgress() finds none where something else is in the folder's place", () => {
  using folder = temporary();
  const root = `${folder.path}/.runs`;
  Deno.writeTextFileSync(root, "");
  assertEquals(runsInProgress(root), []);
});

Deno.test({
  name:
    "RunFolder() refuses a lock that is no regular file, and writes to none",
  ignore: Deno.build.os === "windows",
  fn() {
    using folder = temporary();
    const root = `${folder.path}/.runs`;
    const [own, lock] = [`${root}/run`, `${root}/run/lock`];
    const target = `${folder.path}/mine.txt`;
    Deno.writeTextFileSync(target, "mine");
    const put = {
      "a link": () => Deno.symlinkSync(target, lock),
      "a folder": () => Deno.mkdirSync(lock),
    };
    for (const [what, make] of Object.entries(put)) {
      Deno.mkdirSync(own, { recursive: true });
      make();
      const { message } = assertThrows(
        () => new RunFolder(root, "run"),
        UserError,
      );
      assertEquals(
        message,
        `Cannot write ${own}: its lock ${lock} is ${what}; remove that, then give the same command again`,
      );
      Deno.removeSync(root, { recursive: true });
    }
    assertEquals(Deno.readTextFileSync(target), "mine");
  },
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
    { ...INFO, out: "/results" },
    { ...INFO, out: "/other" },
  ];
  const all = new Set([INFO, ...others].map(fingerprint));
  assertEquals(all.size, others.length + 1);
});

const A = timedRow("a");

function inFolder(work: (root: string) => void): void {
  using folder = temporary();
  work(`${folder.path}/.runs`);
}

Deno.test("Journal() discards what there is when asked to start afresh", () => {
  inFolder((root) => {
    {
      using journal = new Journal(root, INFO);
      journal.append({ row: A, repeat: 0 }, [1]);
    }
    const later = { ...INFO, started: "later" };
    using journal = new Journal(root, later, { fresh: true });
    assertEquals(journal.resumed, false);
    assertEquals(journal.info.started, "later");
    assertEquals([...journal.sampleLines()], []);
  });
});

Deno.test("Journal() keeps the journals of different runs apart", () => {
  inFolder((root) => {
    using one = new Journal(root, INFO);
    using two = new Journal(root, { ...INFO, runs: 2 });
    one.append({ row: A, repeat: 0 });
    assertEquals([one.rows.length, two.rows.length], [1, 0]);
  });
});

Deno.test("Journal() refuses a run that another is at, and says which", () => {
  inFolder((root) => {
    {
      using journal = new Journal(root, INFO);
      const clock = new ManualClock();
      assertEquals(
        assertThrows(() => new Journal(root, INFO, { clock }), UserError)
          .message,
        `Cannot write ${journal.folder}: process ${Deno.pid} is at the same run; wait until it has ended, or end it, then give the same command again`,
      );
      // As long as a process that was just forked may have it.
      assert(clock.now() >= 1_000 && clock.now() <= 1_100, `${clock.now()}`);
    }
    new Journal(root, INFO)[Symbol.dispose]();
  });
});

Deno.test("Journal() waits for a lock that is given back soon", () => {
  inFolder((root) => {
    const journal = new Journal(root, INFO);
    // Blocks for real as well: a process that another test just started holds a copy of the
    // lock until it has become another program, which a manual clock does not wait for.
    const clock = new ManualClock();
    const block = clock.block.bind(clock);
    clock.block = (ms) => {
      realClock.block(ms);
      block(ms);
    };
    using _ = clock.timer(100, () => journal[Symbol.dispose]());
    new Journal(root, INFO, { clock })[Symbol.dispose]();
    assert(clock.now() >= 100, `${clock.now()}`);
  });
});

Deno.test("Journal() says that a folder cannot be made", () => {
  inFolder((root) => {
    Deno.writeTextFileSync(root, "");
    assertMatch(
      assertThrows(() => new Journal(root, INFO), UserError).message,
      /^Cannot write .*\.runs\/.*: Not a directory/,
    );
  });
});

Deno.test("Journal.finish() lets the same command measure afresh", () => {
  inFolder((root) => {
    using journal = new Journal(root, INFO);
    journal.append({ row: A, repeat: 0 });
    journal.finish();
    assertEquals([...Deno.readDirSync(root)], []);
    using again = new Journal(root, INFO);
    assertEquals(again.resumed, false);
  });
});

Deno.test("Journal() clears away what a stop within finish() left", () => {
  inFolder((root) => {
    let folder = "";
    {
      using journal = new Journal(root, INFO);
      folder = journal.folder;
      journal.append({ row: A, repeat: 0 });
    }
    Deno.renameSync(folder, `${folder}.finished-7`);
    using journal = new Journal(root, INFO);
    assertEquals(journal.resumed, false);
    assertEquals([...Deno.readDirSync(root)].map((e) => `${root}/${e.name}`), [
      folder,
    ]);
  });
});
