import { assert, assertEquals, assertMatch } from "@std/assert";
import { cpu } from "../backends/cpu/cpu.ts";
import type { DeviceInfo } from "../bench/device/device.ts";
import { DEFAULTS } from "../bench/model/settings.ts";
import { type CaseKey, caseText } from "../bench/row/row.ts";
import { lockDevice } from "../bench/worker/device_lock.ts";
import { within } from "../bench/testdata/temporary.ts";
import { lacking, testdata } from "../cli/testdata/program.ts";
import { jobOf, lockName, runJob } from "./run_job.ts";
import { select } from "./select.ts";
import { backendNamed } from "./take_device.ts";

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

Deno.test({
  name: `a worker runs the case first that its job names${lacking()}`,
  ignore: lacking() !== "",
  fn: () =>
    within(async (cacheDir) => {
      const selected = await select({
        suites: ["matmul-fp32"],
        kernels: ["naive", "blocked"],
        overrides: { m: [8], k: [16] },
        where: {},
        quick: true,
        backend: cpu.name,
        device: 0,
      });
      const settings = { ...DEFAULTS, checkOnly: true, cacheDir };
      const job = jobOf({ ...selected, settings, run: "0123456789ab" });
      const orderOf = async (first?: string) => {
        const keys: CaseKey[] = [];
        await runJob({ ...job, ...(first === undefined ? {} : { first }) }, {
          progress: { update: () => {}, print: () => {} },
          timeout: 60,
          done: 0,
          failed: 0,
          signal: new AbortController().signal,
          take: (event) => {
            if (event.event === "row") keys.push(event.row.key);
          },
        });
        return keys;
      };
      const keys = await orderOf();
      assertEquals(keys.length, 2);
      assertEquals(await orderOf(caseText(keys[1]!)), keys.toReversed());
    }),
});

Deno.test("runJob() waits for a GPU that another run has, and starts no worker", async () => {
  const backend = await backendNamed("cuda");
  const stop = new AbortController();
  const lines: string[] = [];
  // A run of somebody else may have it already: then this one waits for that.
  using _held = await lockDevice(lockName(0, backend), {
    what: "a",
    note: () => stop.abort(),
    signal: stop.signal,
  });
  const selection = { suites: [], backend: "cuda", device: 0 };
  const settings = { ...DEFAULTS, cacheDir: "none" };
  const end = await runJob(
    jobOf({ selection, settings, cases: [], run: "r" }),
    {
      progress: {
        update() {},
        print(line) {
          lines.push(line);
          stop.abort();
        },
      },
      timeout: 60,
      done: 3,
      failed: 1,
      signal: stop.signal,
      take: (event) => lines.push(event.event),
    },
  );
  assertEquals([end.done, end.failed, lines.length], [3, 1, 1]);
  assertMatch(lines[0]!, /^Waiting for \S+, which another run has: process/);
});

Deno.test("lockName() is the device's UUID, or its index where nobody tells", () => {
  const [info] = cpu.find().devices;
  const found = (devices: readonly DeviceInfo[]) => ({
    name: "cuda",
    find: () => ({ devices, reason: "" }),
  });
  assertEquals(lockName(0, found([{ ...info!, uuid: "GPU-1" }])), "GPU-1");
  assertEquals(lockName(0, found([info!])), "cuda-0");
  assertEquals(lockName(1, found([info!])), "cuda-1");
});
