import { deepStrictEqual, match, ok, strictEqual } from "node:assert/strict";
import { cpu } from "../backends/cpu.ts";
import type { CsvRow } from "../bench/csv.ts";
import { writeCsv } from "../bench/csv.ts";
import { CaseError } from "../bench/errors.ts";
import { parseEffects } from "../report/mde.ts";
import { csvRow } from "../report/testdata/csv_rows.ts";
import { readRows } from "./rows.ts";
import { Planted } from "./testdata/planted.ts";
import { program } from "./testdata/program.ts";

/** Why nothing can be compiled here; empty where it can. */
function lacking(): string {
  try {
    cpu.compiler(Deno.build.arch);
    return "";
  } catch (error) {
    if (!(error instanceof CaseError)) throw error;
    return " (ignored: there is no C compiler)";
  }
}

const ignore = lacking() !== "";
// What is planted is a factor of two; what a busy machine does to 3 % is not the matter here.
const CONFIRM = [
  ...["gate", "--confirm", "--format", "json", "--runs", "3"],
  ...["--threshold", "40"],
];

/** Measures the suite as it is, and gives the only row. */
async function measure(planted: Planted, out: string): Promise<CsvRow> {
  const { code, stderr } = await planted.run("bench", "--out", planted.at(out));
  strictEqual(code, 0, stderr);
  const [one] = await readRows([planted.at(out)]);
  return one!.row;
}

Deno.test({
  name: `gate --confirm runs either build and tells what is slower${lacking()}`,
  ignore,
  async fn() {
    using planted = new Planted();
    planted.plant(4);
    const base = await measure(planted, "base");
    planted.plant(8);
    const next = await measure(planted, "next");
    ok(base.binary_hash !== next.binary_hash);
    const sides = [planted.at("base"), planted.at("next")];
    const slower = await planted.run(...CONFIRM, ...sides);
    strictEqual(slower.code, 1, slower.stderr);
    const [row] = JSON.parse(slower.stdout).rows;
    strictEqual(row.verdict, "slower");
    match(row.why, /^measured again, \+\d+\.\d % before$/);
    // It is twice the work, and the base's binary is not that of the source of now.
    ok(row.change > 0.5, `${row.change}`);
    match(slower.stderr, /Measured 1 rows again: 1 are slower/);
    // The other way round the base is the new binary.
    const faster = await planted.run(...CONFIRM, ...sides.toReversed());
    strictEqual(faster.code, 0, faster.stderr);
  },
});

Deno.test({
  name: `gate --confirm passes a false alarm, and says so${lacking()}`,
  ignore,
  async fn() {
    using planted = new Planted();
    planted.plant(4);
    const row = await measure(planted, "next");
    const shorter = (us: string) => `${Number(us) / 2}`;
    const base = {
      ...row,
      run: "another",
      median_us: shorter(row.median_us),
      q1_us: shorter(row.q1_us),
      q3_us: shorter(row.q3_us),
    };
    const file = planted.at("base.csv");
    await Deno.writeTextFile(file, writeCsv([base]));
    const args = [file, planted.at("next")];
    strictEqual((await program(["diff", ...args])).code, 1);
    const { code, stdout, stderr } = await planted.run(...CONFIRM, ...args);
    strictEqual(code, 0, stdout);
    strictEqual(JSON.parse(stdout).counts.slower, 0);
    match(stderr, /Measured 1 rows again: 0 are slower/);

    // A base whose binary is gone cannot be run.
    const lost = { ...base, binary_hash: "0123456789abcdef" };
    await Deno.writeTextFile(file, writeCsv([lost]));
    const gone = await planted.run(...CONFIRM, ...args);
    strictEqual(gone.code, 3);
    match(gone.stderr, /Cannot confirm: no kernel in .* has the binary 0123/);
    strictEqual(JSON.parse(gone.stdout).counts.slower, 1);

    // Nor can another driver.
    const driver = { ...base, driver: "another" };
    await Deno.writeTextFile(file, writeCsv([driver]));
    const other = await planted.run(...CONFIRM, ...args);
    strictEqual(other.code, 3);
    match(other.stderr, /was measured with driver another before/);
  },
});

Deno.test({
  name: `gate --calibrate keeps what runs of one build differ by${lacking()}`,
  ignore,
  async fn() {
    using planted = new Planted();
    planted.plant(2);
    const out = planted.at("out");
    const made = await planted.run(
      ...["gate", "--calibrate", "--times", "3", "--out", out],
    );
    strictEqual(made.code, 0, made.stderr);
    const [device] = [...Deno.readDirSync(out)];
    const file = `${out}/${device!.name}/planted.mde.json`;
    const { runs, rows } = parseEffects(Deno.readTextFileSync(file), file);
    deepStrictEqual([runs, rows.length], [3, 1]);
    ok(rows[0]!.mde > 0 && rows[0]!.mde < 5, `${rows[0]!.mde}`);
  },
});

Deno.test("gate --calibrate reads runs of one build, and refuses those of two", async () => {
  using planted = new Planted();
  const files = ["10", "10.2", "9.9"].map((median_us, i) => {
    const file = planted.at(`${i}.csv`);
    Deno.writeTextFileSync(file, writeCsv([csvRow({ median_us })]));
    return file;
  });
  const out = planted.at("out");
  const args = ["gate", "--calibrate", "--out", out];
  const { code, stdout } = await program([...args, ...files]);
  strictEqual(code, 0);
  strictEqual(
    stdout,
    `${out}/fake-1/s.mde.json: 1 rows of 3 runs, minimal detectable effect 4.7 % at most\n`,
  );
  const other = csvRow({ binary_hash: "another" });
  Deno.writeTextFileSync(files[2]!, writeCsv([other]));
  const two = await program([...args, ...files]);
  strictEqual(two.code, 2);
  match(two.stderr, /is not the same build as .* \(binary changed\)/);
  const few = await program([...args, ...files.slice(0, 2)]);
  match(few.stderr, /Cannot calibrate with 2 runs/);
  const twice = await program([...args, "--backend", "cpu", "--times", "2"]);
  strictEqual(twice.code, 2);
  // Not even a device is looked for.
  match(twice.stderr, /^error: Cannot calibrate with 2 runs.*\n$/);
  const neither = await program(["gate", ...files]);
  strictEqual(neither.code, 2);
  match(neither.stderr, /give either --calibrate, or --confirm BASE NEW/);
});
