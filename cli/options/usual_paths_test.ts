import { assertEquals, assertMatch, assertThrows } from "@std/assert";
import { join } from "node:path";
import { writeCsv } from "../../bench/row/csv.ts";
import { UserError } from "../../bench/model/errors.ts";
import { temporary } from "../../bench/testdata/temporary.ts";
import { csvRow } from "../../report/testdata/csv_rows.ts";
import { program } from "../testdata/program.ts";
import { hasRows } from "./usual_paths.ts";

Deno.test("hasRows() looks into the folders of devices, and refuses a file", () => {
  const folder = Deno.makeTempDirSync();
  try {
    const [latest, device] = [join(folder, "latest"), "latest/device"];
    assertEquals(hasRows(latest), false);
    Deno.mkdirSync(join(folder, device), { recursive: true });
    assertEquals(hasRows(latest), false);
    const csv = join(folder, device, "s.csv");
    Deno.writeTextFileSync(csv, "");
    assertEquals(hasRows(latest), true);
    const { message } = assertThrows(() => hasRows(csv), UserError);
    assertEquals(message.startsWith(`Cannot read ${csv}: `), true, message);
  } finally {
    Deno.removeSync(folder, { recursive: true });
  }
});

/** Commands without a path, and what each says where no row is. */
const WITHOUT: readonly (readonly [string, RegExp])[] = [
  ...["table", "plot", "report", "history add"].map((command) =>
    [
      command,
      /^error: No rows are here yet, neither in \.runs\/latest nor in results: measure some with `.*bench`, or name a PATH$/m,
    ] as const
  ),
  [
    "list --stale",
    /^error: No rows are recorded here yet: .* with `.*bench --record`, or name a PATH$/m,
  ],
  ...["diff", "compare"].map((command) =>
    [
      command,
      new RegExp(
        `^error: Cannot compare: no row is in .*, or name both sides, ${command} BASE NEW$`,
        "m",
      ),
    ] as const
  ),
];

for (const [command, line] of WITHOUT) {
  Deno.test(`${command} says where no row is what makes some`, async () => {
    using folder = temporary();
    const ran = await program(command.split(" "), { cwd: folder.path });
    assertMatch(ran.stderr, line);
    assertEquals([ran.code, ran.stdout], [3, ""]);
  });
}

Deno.test("diff and compare say how to name two sides where nothing is recorded", async () => {
  using folder = temporary();
  const device = join(folder.path, ".runs", "latest", "device");
  Deno.mkdirSync(device, { recursive: true });
  Deno.writeTextFileSync(join(device, "s.csv"), writeCsv([csvRow()]));
  for (const command of ["diff", "compare"]) {
    const { code, stderr } = await program([command], { cwd: folder.path });
    assertMatch(
      stderr,
      new RegExp(
        `^error: Cannot compare the rows of \\.runs/latest: there is no folder results .*, ${command} BASE NEW$`,
        "m",
      ),
    );
    assertEquals(code, 3);
  }
});

Deno.test("report --splice says at which marker nothing is recorded", async () => {
  using folder = temporary();
  const text = "<!-- mnkbench:begin table -->\n<!-- mnkbench:end -->\n";
  Deno.writeTextFileSync(join(folder.path, "text.md"), text);
  const { code, stderr } = await program(
    ["report", "--splice", "text.md"],
    { cwd: folder.path },
  );
  assertMatch(
    stderr,
    /^error: Cannot splice text\.md: line 1: No rows are recorded here yet: /m,
  );
  assertEquals(code, 3);
});
