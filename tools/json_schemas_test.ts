import { assert, assertEquals, assertStrictEquals } from "@std/assert";
import { join } from "node:path";
import { shownJson } from "../bench/files/json_file.ts";
import { writeCsv } from "../bench/row/csv.ts";
import { flatRow } from "../bench/row/flat_row.ts";
import { streamRows } from "../bench/row/read_csv.ts";
import { csvRow } from "../report/testdata/csv_rows.ts";
import { VERDICT_CASES } from "../report/testdata/verdict_cases.ts";
import { diff } from "mnkbench";
import { FOLDER, jsonSchemas } from "./json_schemas.ts";

for (const [name, text] of Object.entries(jsonSchemas())) {
  Deno.test(`docs/schema/${name} is that of its sources (else: deno task schemas)`, async () => {
    assertStrictEquals(await Deno.readTextFile(join(FOLDER, name)), text);
  });
}

/** The keywords of JSON schema that the schemas use. */
interface Schema {
  readonly type?: string;
  readonly enum?: readonly unknown[];
  readonly const?: unknown;
  readonly anyOf?: readonly Schema[];
  readonly oneOf?: readonly Schema[];
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly items?: Schema;
}

const KEYWORDS = new Set(
  "$schema description type enum const anyOf oneOf properties required items"
    .split(" "),
);

/** Whether `value` is valid by `schema`, and no field of it is unknown there. */
function fits(schema: Schema, value: unknown): boolean {
  assertEquals(Object.keys(schema).filter((name) => !KEYWORDS.has(name)), []);
  const { anyOf, oneOf, properties = {}, required = [], items } = schema;
  const type = value === null
    ? "null"
    : Array.isArray(value)
    ? "array"
    : typeof value;
  if (schema.type !== undefined && schema.type !== type) return false;
  if (schema.enum && !schema.enum.includes(value)) return false;
  if ("const" in schema && schema.const !== value) return false;
  if (anyOf && !anyOf.some((one) => fits(one, value))) return false;
  if (oneOf?.filter((one) => fits(one, value)).length === 0) return false;
  if (Array.isArray(value)) {
    return items !== undefined && value.every((one) => fits(items, one));
  }
  if (type !== "object" || oneOf) return true;
  const fields = value as Readonly<Record<string, unknown>>;
  return required.every((name) => name in fields) &&
    Object.entries(fields).every(([name, one]) =>
      properties[name] !== undefined && fits(properties[name], one)
    );
}

/** What a program reads of `value`, which was printed. */
const printed = (value: unknown): unknown => JSON.parse(shownJson(value));
const schemaOf = (name: string): Schema => JSON.parse(jsonSchemas()[name]!);

Deno.test("row.json describes every recorded row, and refuses others", () => {
  const schema = schemaOf("row.json");
  const results = new URL("../results/", import.meta.url).pathname;
  let last: ReturnType<typeof flatRow> | undefined;
  for (
    const name of ["nvidia-h200/epilogue-bf16", "published/decompose-k-v1"]
  ) {
    for (const { row } of streamRows(`${results}${name}.csv`)) {
      last = flatRow(row);
      assert(fits(schema, printed(last)), `${name}: ${shownJson(last)}`);
    }
  }
  // An output with NaN has an error of NaN.
  assert(fits(schema, printed({ ...last, max_abs_err: NaN })));
  for (const wrong of [{ m: "16" }, { status: "fine" }, { kernel: 1 }]) {
    assert(!fits(schema, printed({ ...last, ...wrong })), shownJson(wrong));
  }
});

Deno.test("diff.json describes each verdict", async () => {
  const schema = schemaOf("diff.json");
  const folder = await Deno.makeTempDir();
  const [old, now] = ["base.csv", "new.csv"].map((name) => join(folder, name));
  try {
    for (const { what, base, next, verdict } of VERDICT_CASES) {
      await Deno.writeTextFile(old!, writeCsv(base ? [csvRow(base)] : []));
      await Deno.writeTextFile(now!, writeCsv(next ? [csvRow(next)] : []));
      const data = await diff(old!, now!);
      assertEquals(data.rows.map((row) => row.verdict), [verdict], what);
      assert(fits(schema, printed(data)), `${what}: ${shownJson(data, 2)}`);
    }
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
});
