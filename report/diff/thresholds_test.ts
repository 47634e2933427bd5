import { assertEquals, assertThrows } from "@std/assert";
import { UserError } from "../../bench/model/errors.ts";
import { parseThresholds, thresholdsOf } from "./thresholds.ts";

Deno.test("thresholdsOf() takes flags before the suite before the file before 3 % and 0.2 us", () => {
  const file = parseThresholds(
    '{"threshold": 4, "minUs": 0.5, "suites": {"s": {"threshold": 10}}}',
    "diff.json",
  );
  assertEquals(thresholdsOf()("s"), { relative: 0.03, minUs: 0.2 });
  const limits = thresholdsOf({}, file);
  assertEquals(limits("t"), { relative: 0.04, minUs: 0.5 });
  assertEquals(limits("s"), { relative: 0.1, minUs: 0.5 });
  assertEquals(limits("constructor"), { relative: 0.04, minUs: 0.5 });
  const flagged = thresholdsOf({ threshold: 1 }, file);
  assertEquals(flagged("s"), { relative: 0.01, minUs: 0.5 });
});

Deno.test("parseThresholds() refuses what it does not know", () => {
  const cases: readonly (readonly [string, string])[] = [
    ["{", "it is not JSON"],
    ["3", "it is 3, and must be an object"],
    ["[]", "it is a list"],
    ['{"treshold": 3}', "treshold is unknown"],
    ['{"suites": {"s": {"suites": {}}}}', "suites.s.suites is unknown"],
    ['{"suites": {"s": 3}}', "suites.s is 3, and must be an object"],
    [
      '{"threshold": "3"}',
      'threshold is "3", and must be a number from 0 to 1000000',
    ],
    ['{"minUs": -1}', "minUs is -1, and must be a number from 0 to 1000000"],
  ];
  for (const [text, why] of cases) {
    assertThrows(() => parseThresholds(text, "diff.json"), UserError, why);
  }
});
