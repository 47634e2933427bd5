/**
 * The program that a worker process runs.
 *
 * @module
 */

import { EXIT } from "../bench/model/errors.ts";
import { onFatal } from "./fatal.ts";
import { worker } from "./worker.ts";

if (import.meta.main) {
  onFatal((message) => {
    Deno.stderr.writeSync(new TextEncoder().encode(`error: ${message}\n`));
    Deno.exit(EXIT.usage);
  });
  Deno.exit(await worker());
}
