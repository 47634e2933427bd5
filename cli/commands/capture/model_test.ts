import { assertEquals, assertThrows } from "@std/assert";
import { join } from "node:path";
import { UserError } from "../../../bench/model/errors.ts";
import { temporary } from "../../../bench/testdata/temporary.ts";
import { capturedOfModel } from "./model.ts";

const REFUSED: readonly (readonly [string | undefined, string])[] = [
  [
    undefined,
    "Cannot read DIR: there is no such file; name a model's config.json",
  ],
  [
    "{",
    "Cannot read DIR: it is damaged or cut short; name a model's config.json",
  ],
  ["", "Cannot read DIR: it is empty; name a model's config.json"],
  [
    "{}",
    "Cannot list the layers of this model: field model_type is missing; give the config.json of its repository",
  ],
];

for (const [text, why] of REFUSED) {
  Deno.test(`capturedOfModel() refuses a file: ${why}`, () => {
    using folder = temporary();
    const model = join(folder.path, "config.json");
    if (text !== undefined) Deno.writeTextFileSync(model, text);
    const { message } = assertThrows(
      () => capturedOfModel({ model, tp: 1, batch: 1 }),
      UserError,
    );
    assertEquals(message.replace(model, "DIR"), why);
  });
}
