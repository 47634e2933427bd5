import { assertEquals, assertMatch } from "@std/assert";
import { writeCsv } from "../../../bench/row/csv.ts";
import { csvRow } from "../../../report/testdata/csv_rows.ts";
import { program } from "../../testdata/program.ts";

const slow = { median_us: "20", q1_us: "19.9", q3_us: "20.1" };
const peer = {
  kernel: "torch-eager",
  backend: "cuda",
  library: "torch 2.11.0",
};

async function confirm(base: string, next: string) {
  const folder = await Deno.makeTempDir();
  try {
    const files = [`${folder}/base.csv`, `${folder}/next.csv`] as const;
    await Deno.writeTextFile(files[0], base);
    await Deno.writeTextFile(files[1], next);
    return await program(
      ["compare", "--format", "json", ...files],
      { cwd: folder },
    );
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

Deno.test("compare leaves peers' rows as they are, and says why", async () => {
  const { code, stdout, stderr } = await confirm(
    writeCsv([csvRow(peer)]),
    writeCsv([csvRow({ ...peer, ...slow })]),
  );
  assertEquals(code, 1, stderr);
  const [row] = JSON.parse(stdout).rows;
  assertEquals([row.verdict, row.change], ["slower", 1]);
  assertMatch(row.why, /^not measured again: it is a peer's$/);
  assertMatch(
    stderr,
    /^1 row of peers was not measured again, .*: measure both sides with `bench --peers torch`$/m,
  );
  assertMatch(stderr, /^No row of ours is slower or unclear/m);
});
