/** Keeps entries in the file and under the names it is given, one change each. */

import { changeTimings } from "../tune/timing_cache.ts";
import { timingEntry } from "./timings.ts";

const [path, ...names] = Deno.args;
for (const name of names) {
  changeTimings(path!, (timings) => timings.put(timingEntry(name)));
}
