/**
 * Makes the JSON schemas (draft 2020-12) of what commands print for programs, from the schemas by
 * which the program itself makes it. `deno task schemas` writes them to `docs/schema/`, where they
 * are committed; a test compares them with their sources.
 *
 * @module
 */

import { fileURLToPath } from "node:url";
import { type ConversionConfig, toJsonSchema } from "@valibot/to-json-schema";
import { flatRowSchema } from "../bench/row/flat_row.ts";
import { diffSchema } from "../report/diff/machine.ts";

/** The folder of the schemas. */
export const FOLDER: string = fileURLToPath(
  new URL("../docs/schema/", import.meta.url),
);

const CONFIG: ConversionConfig = {
  target: "draft-2020-12",
  // JSON has no NaN.
  overrideSchema: ({ valibotSchema: { type } }) =>
    type === "nan" ? { type: "null" } : undefined,
};

/** Returns the text of each schema by the name of its file. */
export function jsonSchemas(): Readonly<Record<string, string>> {
  const text = (description: string, schema: object) => {
    const { $schema, ...rest } = schema as { readonly $schema?: string };
    return `${JSON.stringify({ $schema, description, ...rest }, null, 2)}\n`;
  };
  return {
    "row.json": text(
      "A row: a line of `bench --json` and `check --json`. docs/guide/file-format.md describes the fields.",
      toJsonSchema(flatRowSchema, CONFIG),
    ),
    "diff.json": text(
      "The output of `diff --format json`. docs/guide/verdicts.md describes the verdicts.",
      toJsonSchema(diffSchema, CONFIG),
    ),
  };
}

if (import.meta.main) {
  await Deno.mkdir(FOLDER, { recursive: true });
  for (const [name, content] of Object.entries(jsonSchemas())) {
    await Deno.writeTextFile(`${FOLDER}${name}`, content);
  }
}
