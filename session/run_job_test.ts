import { assert, assertEquals } from "@std/assert";
import { cpu } from "../backends/cpu/cpu.ts";
import { DEFAULTS } from "../bench/model/settings.ts";
import { within } from "../bench/testdata/temporary.ts";
import { lacking, testdata } from "../cli/testdata/program.ts";
import { jobOf, runJob } from "./run_job.ts";
import { select } from "./select.ts";

Deno.test({
  name: `runJob() adds up what workers cost that were ended${lacking()}`,
  ignore: lacking() !== "",
  fn: () =>
    within(async (cacheDir) => {
      const selected = await select({
        suites: [testdata("fault_suite.ts")],
        // The first to fail ends its worker, as it may have spoilt it for the second.
        kernels: ["unwritten", "nan-result"],
        overrides: {},
        where: {},
        quick: true,
        backend: cpu.name,
        device: 0,
      });
      const settings = { ...DEFAULTS, checkOnly: true, cacheDir };
      const { spent, memoryBytes, failed } = await runJob(
        jobOf({ ...selected, settings, run: "0123456789ab" }),
        {
          progress: { update: () => {}, print: () => {} },
          timeout: 60,
          done: 0,
          failed: 0,
          signal: new AbortController().signal,
          take: () => {},
        },
      );
      assertEquals([failed, spent.length], [2, 2]);
      assert(spent.every(({ check }) => check > 0));
      assert(memoryBytes > 0);
    }),
});
