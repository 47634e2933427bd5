/**
 * The program that a worker process runs.
 *
 * @module
 */

import { EXIT } from "../bench/model/errors.ts";
import { done, onFatal } from "./fatal.ts";
import { sayFatal, worker } from "./worker.ts";

if (import.meta.main) {
  onFatal((message) => {
    sayFatal(message, EXIT.usage);
    Deno.exit(EXIT.usage);
  });
  const code = await worker();
  done();
  Deno.exit(code);
}
