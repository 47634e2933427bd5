import { assert, assertEquals, assertMatch, assertThrows } from "@std/assert";
import { UserError } from "../model/errors.ts";
import { Journal } from "./journal.ts";
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
        `Cannot write ${root}/${journal.run}: process ${Deno.pid} is at the same run; wait until it has ended, or end it, then give the same command again`,
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
    const clock = new ManualClock();
    using _ = clock.timer(500, () => journal[Symbol.dispose]());
    new Journal(root, INFO, { clock })[Symbol.dispose]();
    assertEquals(clock.now(), 500);
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
    let run = "";
    {
      using journal = new Journal(root, INFO);
      run = journal.run;
      journal.append({ row: A, repeat: 0 });
    }
    Deno.renameSync(`${root}/${run}`, `${root}/${run}.finished-7`);
    using journal = new Journal(root, INFO);
    assertEquals(journal.resumed, false);
    assertEquals([...Deno.readDirSync(root)].map((e) => e.name), [run]);
  });
});
