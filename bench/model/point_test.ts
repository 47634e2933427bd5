import { deepStrictEqual, strictEqual, throws } from "node:assert/strict";
import type { Values } from "./grid.ts";
import { readPoint, wholePoint } from "./point.ts";

const VALUES = { m: 1, type: "f16", typ: "bf16" };
const unread = (point: (values: Values) => unknown) =>
  readPoint({ point }, VALUES).unread;

Deno.test("readPoint() tells which fields nobody looked at", () => {
  const read = readPoint(
    { point: ({ m, type = "f32", group = 1 }) => ({ m, type, group }) },
    VALUES,
  );
  deepStrictEqual(read, {
    point: { m: 1, type: "f16", group: 1 },
    unread: ["typ"],
    fields: ["m", "type", "group"],
  });
});

Deno.test("readPoint() counts any way of looking", () => {
  deepStrictEqual(unread((values) => ({ ...values })), []);
  deepStrictEqual(unread((values) => Object.entries(values)), []);
  deepStrictEqual(unread((values) => ["m", "typ"].map((n) => n in values)), [
    "type",
  ]);
  deepStrictEqual(unread((values) => values), []);
  strictEqual(readPoint({ point: (values) => values }, VALUES).point, VALUES);
});

Deno.test("wholePoint() refuses a field that the operation lacks, and lists what it has", () => {
  const read = { point: 1, unread: ["typ"], fields: ["type", "m"] };
  throws(() => wholePoint(read, { suite: "mine", op: "matmul" }), {
    name: "UserError",
    message:
      "Cannot use the suite mine: its operation matmul has no field typ; it has m, type",
  });
  strictEqual(
    wholePoint({ ...read, unread: [] }, { suite: "mine", op: "matmul" }),
    1,
  );
});
