/** Adds rows to a journal until that fails; says how many it added, and why no more. */

import { UserError } from "../model/errors.ts";
import { Journal } from "../worker/journal.ts";
import { INFO } from "./jobs.ts";
import { timedRow } from "./rows.ts";

using journal = new Journal(Deno.args[0]!, INFO);
let count = 0;
try {
  while (count < 1000) {
    journal.append({ row: timedRow(`k${count}`), repeat: 0 });
    count++;
  }
} catch (error) {
  if (!(error instanceof UserError)) throw error;
  const said = `${count} ${error.message}\n`;
  Deno.stdout.writeSync(new TextEncoder().encode(said));
}
