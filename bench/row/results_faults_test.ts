import { assertEquals, assertMatch, assertRejects } from "@std/assert";
import { UserError } from "../model/errors.ts";
import { openJournal } from "../worker/journal.ts";
import { publish } from "./results.ts";
import { keyText } from "./row.ts";
import { INFO } from "../testdata/jobs.ts";
import { fill, inFolder, measure, recorded } from "../testdata/published.ts";
import { timedRow } from "../testdata/rows.ts";

const names = (folder: string) =>
  [...Deno.readDirSync(folder)].map((entry) => entry.name).sort();

const spoilt = {
  "s.csv": "m,n\n1,2\n",
  "s.samples.jsonl.gz": "not compressed",
};
for (const [name, content] of Object.entries(spoilt)) {
  Deno.test(`publish() loses nothing where it cannot read an old ${name}`, () =>
    inFolder(async (folders) => {
      const { device, runs } = folders;
      Deno.mkdirSync(device, { recursive: true });
      Deno.writeTextFileSync(`${device}/${name}`, content);
      const first = timedRow("a", { suite: "first" });
      assertMatch(
        (await assertRejects(
          () => measure(folders, [first, timedRow("a")]),
          UserError,
        )).message,
        /^Cannot read .* move it away or pass --out with another/,
      );
      assertEquals(Deno.readTextFileSync(`${device}/${name}`), content);
      Deno.removeSync(`${device}/${name}`);
      using journal = openJournal(runs, INFO);
      assertEquals(journal.rows.length, 2);
      await publish(journal, folders.out);
      assertEquals((await recorded(folders)).samples, ["a 4"]);
    }));
}

Deno.test("publish() may be repeated where it was stopped half way", () =>
  inFolder(async (folders) => {
    const { runs, out, device } = folders;
    await measure(folders, [timedRow("old"), timedRow("a", { median_us: 9 })]);
    using journal = openJournal(runs, INFO);
    fill(journal, [timedRow("a"), timedRow("b", { suite: "t" })]);
    // A folder in the place of the second suite's draft stops it after the first.
    Deno.mkdirSync(`${device}/t.samples.jsonl.gz.${Deno.pid}.tmp`);
    assertMatch(
      (await assertRejects(() => publish(journal, out), Error)).message,
      /^Cannot write .*t.samples.jsonl.gz: Is a directory/,
    );
    assertEquals((await recorded(folders)).rows, ["old 4", "a 4"]);
    assertEquals(names(device), ["s.csv", "s.samples.jsonl.gz"]);
    const { run } = journal;
    journal[Symbol.dispose]();

    using again = openJournal(runs, INFO);
    assertEquals([again.run, again.rows.length], [run, 2]);
    await publish(again, out);
    assertEquals(await recorded(folders), {
      rows: ["old 4", "a 4"],
      samples: ["old 4", "a 4"],
    });
    assertEquals((await recorded(folders, "t")).rows, ["b 4"]);
    const bytes = Deno.readFileSync(`${device}/s.samples.jsonl.gz`);
    await measure(folders, [timedRow("a")]);
    assertEquals(Deno.readFileSync(`${device}/s.samples.jsonl.gz`), bytes);
  }));

Deno.test("publish() of two runs at once loses the rows of neither", () =>
  inFolder(async (folders) => {
    using one = openJournal(folders.runs, INFO);
    using two = openJournal(folders.runs, { ...INFO, runs: 2 });
    fill(one, [timedRow("a")]);
    fill(two, [timedRow("b")]);
    await Promise.all([one, two].map((j) => publish(j, folders.out)));
    const { rows } = await recorded(folders);
    assertEquals(rows.toSorted(), ["a 4", "b 4"]);
  }));

Deno.test("publish() says that the folder cannot be written to, and keeps the journal", () =>
  inFolder(async (folders) => {
    Deno.writeTextFileSync(folders.out, "");
    assertMatch(
      (await assertRejects(() => measure(folders, [timedRow("a")]), UserError))
        .message,
      /^Cannot write .*results\/fake-1: Not a directory/,
    );
    using journal = openJournal(folders.runs, INFO);
    assertEquals([...journal.done(0)], [keyText(timedRow("a").key)]);
  }));

Deno.test("publish() leaves a link to a CSV, and replaces the CSV", {
  ignore: Deno.build.os === "windows",
}, () =>
  inFolder(async (folders) => {
    const { device, out } = folders;
    await measure(folders, [timedRow("a")]);
    Deno.renameSync(`${device}/s.csv`, `${out}/elsewhere.csv`);
    Deno.symlinkSync("../elsewhere.csv", `${device}/s.csv`);
    await measure(folders, [timedRow("b")]);
    assertEquals(Deno.lstatSync(`${device}/s.csv`).isSymlink, true);
    const { rows } = await recorded(folders);
    assertEquals(rows, ["a 4", "b 4"]);
    assertEquals(Deno.lstatSync(`${out}/elsewhere.csv`).isFile, true);
  }));
