import { ok, strictEqual } from "node:assert/strict";
import { setTimeout } from "node:timers/promises";
import { Pulse } from "./heartbeat.ts";

Deno.test("Pulse.beat() says it once for beats that follow at once", async () => {
  let said = 0;
  const start = performance.now();
  const pulse = new Pulse(() => said++);
  // However long the machine keeps this waiting.
  const most = () => Math.floor((performance.now() - start) / 50);
  for (let i = 0; i < 100; i++) pulse.beat();
  ok(said <= most(), `${said}`);
  await setTimeout(60);
  for (let i = 0; i < 100; i++) pulse.beat();
  ok(said >= 1 && said <= most(), `${said}`);
});

Deno.test("Pulse.during() says it until the work ends, and no longer than it may", async () => {
  let said = 0;
  const pulse = new Pulse(() => said++);
  strictEqual(await pulse.during(setTimeout(400, "done"), 1e9), "done");
  ok(said >= 2, `${said}`);
  const before = said;
  await pulse.during(setTimeout(300), 0);
  strictEqual(said, before);
});
