/** Loads the suite file of the first argument within as many milliseconds as the second. */

import { importSuite } from "../../session/suite_file.ts";

const [file, ms] = Deno.args;
try {
  await importSuite(file!, Number(ms));
} catch (error) {
  console.log(`${error}`);
}
// A module that waits for ever keeps the program from an end of its own.
Deno.exit(0);
