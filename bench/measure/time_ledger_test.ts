import { rejects, strictEqual, throws } from "node:assert/strict";
import { Ledger } from "./time_ledger.ts";

function setUp() {
  let now = 100;
  const ledger = new Ledger(() => now);
  return { ledger, pass: (ms: number) => void (now += ms) };
}

Deno.test("Ledger.count() counts nested time once, in the inner phase", () => {
  const { ledger, pass } = setUp();
  ledger.count("search", () => {
    pass(5);
    ledger.count("build", () => pass(20));
    pass(1);
  });
  pass(4);
  ledger.ask(12);
  const { search, build, total, asked } = ledger.spent;
  strictEqual(search, 6);
  strictEqual(build, 20);
  strictEqual(total, 30);
  strictEqual(asked, 12);
});

Deno.test("Ledger.count() closes a phase that fails", async () => {
  const { ledger, pass } = setUp();
  throws(() =>
    ledger.count("check", () => {
      pass(3);
      throw new Error("x");
    })
  );
  pass(2);
  await rejects(ledger.count("time", async () => {
    pass(1);
    await Promise.reject(new Error("y"));
  }));
  pass(2);
  const { check, time, total } = ledger.spent;
  strictEqual(check, 3);
  strictEqual(time, 1);
  strictEqual(total, 8);
});
