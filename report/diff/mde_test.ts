import { assert, assertEquals, assertThrows } from "@std/assert";
import { UserError } from "../../bench/model/errors.ts";
import { generator } from "../../bench/measure/bootstrap.ts";
import { effectOf, formatEffects, keyFields, parseEffects } from "./mde.ts";
import { csvRow } from "../testdata/csv_rows.ts";
import { normal } from "../../bench/testdata/samples.ts";

Deno.test("effectOf() is exceeded by one in twenty pairs of runs", () => {
  const random = generator(5);
  const median = () => 50 * Math.exp(0.02 * normal(random));
  const effect = effectOf(Array.from({ length: 400 }, median));
  let beyond = 0;
  for (let i = 0; i < 4000; i++) {
    const [a, b] = [median(), median()];
    if (Math.max(a, b) / Math.min(a, b) - 1 > effect) beyond++;
  }
  assert(Math.abs(beyond / 4000 - 0.05) < 0.01, `${beyond}`);
});

Deno.test("effectOf() is about the same from few runs", () => {
  const random = generator(6);
  const median = () => 50 * Math.exp(0.02 * normal(random));
  let sum = 0;
  for (let i = 0; i < 500; i++) {
    sum += effectOf(Array.from({ length: 5 }, median)) / 500;
  }
  assert(
    Math.abs(sum / Math.expm1(1.96 * Math.SQRT2 * 0.02) - 1) < 0.05,
    `${sum}`,
  );
});

Deno.test("parseEffects() reads what formatEffects() wrote, and nothing else", () => {
  const rows = [
    { key: keyFields(csvRow()), mde: 0.0123 },
    { key: keyFields(csvRow({ kernel: 'a"b' })), mde: 0 },
  ];
  const text = formatEffects({ device: "H200", runs: 5, rows });
  assertEquals(text.split("\n").length, 5);
  assertEquals(parseEffects(text, "a.mde.json").rows, rows);
  for (const other of ["", "{}", "null", '{"schema":1,"rows":[{"mde":1}]}']) {
    assertThrows(() => parseEffects(other, "a.mde.json"), UserError);
  }
});
