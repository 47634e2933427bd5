/** A worker of the functions that its arguments name. */

import { fake } from "../../backends/fake/fake.ts";
import { caseText, keyOf } from "../../bench/row/row.ts";
import { formatEvent, receiveJob } from "../../bench/worker/protocol.ts";
import { runPeers } from "../runner.ts";
import { PROGRAM, suiteOf } from "./own_suite.ts";

const job = await receiveJob();
const backend = fake({ kernels: {} });
const cases = [...suiteOf(Deno.args).cases("all")]
  .filter((c) => !job.skip.includes(caseText(keyOf(c))));
const assigned = {
  backend,
  cases,
  harness: "",
  info: backend.find().devices[0]!,
};
await runPeers(
  job,
  assigned,
  (event) =>
    Deno.stdout.writeSync(
      new TextEncoder().encode(formatEvent(event, job.nonce ?? "")),
    ),
  { program: PROGRAM },
);
Deno.exit();
