import { assert, assertEquals, assertMatch, assertThrows } from "@std/assert";
import { UserError } from "../model/errors.ts";
import { openJournal } from "./journal.ts";
import { INFO } from "../testdata/jobs.ts";
import { ManualClock } from "../testdata/manual_clock.ts";
import { timedRow } from "../testdata/rows.ts";

const A = timedRow("a");

function inFolder(work: (root: string) => void): void {
  const folder = Deno.makeTempDirSync();
  try {
    work(`${folder}/.runs`);
  } finally {
    Deno.removeSync(folder, { recursive: true });
  }
}

Deno.test("openJournal() discards what there is when asked to start afresh", () => {
  inFolder((root) => {
    {
      using journal = openJournal(root, INFO);
      journal.append({ row: A, repeat: 0 }, [1]);
    }
    const later = { ...INFO, started: "later" };
    using journal = openJournal(root, later, { fresh: true });
    assertEquals(journal.resumed, false);
    assertEquals(journal.info.started, "later");
    assertEquals([...journal.sampleLines()], []);
  });
});

Deno.test("openJournal() keeps the journals of different runs apart", () => {
  inFolder((root) => {
    using one = openJournal(root, INFO);
    using two = openJournal(root, { ...INFO, runs: 2 });
    one.append({ row: A, repeat: 0 });
    assertEquals([one.rows.length, two.rows.length], [1, 0]);
  });
});

Deno.test("openJournal() refuses a run that another is at, and says which", () => {
  inFolder((root) => {
    {
      using journal = openJournal(root, INFO);
      const clock = new ManualClock();
      assertEquals(
        assertThrows(() => openJournal(root, INFO, { clock }), UserError)
          .message,
        `Cannot write ${root}/${journal.run}: process ${Deno.pid} is at the same run; wait until it has ended, or end it, then give the same command again`,
      );
      // As long as a process that was just forked may have it.
      assert(clock.now() >= 1_000 && clock.now() <= 1_100, `${clock.now()}`);
    }
    openJournal(root, INFO)[Symbol.dispose]();
  });
});

Deno.test("openJournal() waits for a lock that is given back soon", () => {
  inFolder((root) => {
    const journal = openJournal(root, INFO);
    const clock = new ManualClock();
    using _ = clock.timer(500, () => journal[Symbol.dispose]());
    openJournal(root, INFO, { clock })[Symbol.dispose]();
    assertEquals(clock.now(), 500);
  });
});

Deno.test("openJournal() says that a folder cannot be made", () => {
  inFolder((root) => {
    Deno.writeTextFileSync(root, "");
    assertMatch(
      assertThrows(() => openJournal(root, INFO), UserError).message,
      /^Cannot write .*\.runs\/.*: Not a directory/,
    );
  });
});

Deno.test("Journal.finish() lets the same command measure afresh", () => {
  inFolder((root) => {
    using journal = openJournal(root, INFO);
    journal.append({ row: A, repeat: 0 });
    journal.finish();
    assertEquals([...Deno.readDirSync(root)], []);
    using again = openJournal(root, INFO);
    assertEquals(again.resumed, false);
  });
});

Deno.test("openJournal() clears away what a stop within finish() left", () => {
  inFolder((root) => {
    let run = "";
    {
      using journal = openJournal(root, INFO);
      run = journal.run;
      journal.append({ row: A, repeat: 0 });
    }
    Deno.renameSync(`${root}/${run}`, `${root}/${run}.finished-7`);
    using journal = openJournal(root, INFO);
    assertEquals(journal.resumed, false);
    assertEquals([...Deno.readDirSync(root)].map((e) => e.name), [run]);
  });
});
