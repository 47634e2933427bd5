/**
 * Supervises a worker that leaves an orphan, beside a child that is none.
 *
 * @module
 */

import { adoptOrphans } from "../../backends/cpu/process_state.ts";
import { ended, lives, tell } from "./supervised.ts";

adoptOrphans();
const own = new Deno.Command("sleep", { args: ["1000"], detached: true })
  .spawn();
const { printed } = await tell("bare-daemon", { endsOrphans: true });
const [, daemon] = /^daemon (\d+)\n$/.exec(printed)!;
const gone = await ended(Number(daemon));
console.log(`orphan ended: ${gone}, own child lives: ${lives(own.pid)}`);
own.kill("SIGKILL");
await own.status;
