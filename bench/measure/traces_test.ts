import { assertEquals, assertThrows } from "@std/assert";
import { CaseError } from "../model/errors.ts";
import { Traces } from "./traces.ts";
import { WrongError } from "./verify.ts";

/** A device of which each call takes what `taken` says of its number. */
function leaking(taken: (call: number) => number) {
  let [calls, used] = [0, 1 << 30];
  const device = { used: () => [0, used], synchronize() {} };
  return {
    traces: new Traces(device),
    again: () => void (used += taken(calls++)),
    calls: () => calls,
  };
}

const FAST = { calls: 1, ns: 1000 };

Deno.test("demandNoLeak() names what each call leaks", () => {
  const { traces, again } = leaking(() => 64 << 10);
  assertThrows(
    () => traces.demandNoLeak({ again, ...FAST }),
    Error,
    "suspect: leaked about 64 KiB of memory in each of its last 2304 calls",
  );
});

Deno.test("demandNoLeak() sees a leak beside memory that comes and goes", () => {
  const { traces, again } = leaking((call) =>
    (16 << 10) +
    (call % 2048 === 0 ? 3 << 20 : call % 2048 === 300 ? -3 << 20 : 0)
  );
  assertThrows(
    () => traces.demandNoLeak({ again, ...FAST }),
    Error,
    "suspect: leaked about 16 KiB",
  );
});

Deno.test("demandNoLeak() takes memory that is kept for a pool's", () => {
  // The first calls take much, later ones nothing.
  const { traces, again, calls } = leaking((call) => call < 100 ? 1 << 20 : 0);
  traces.demandNoLeak({ again, ...FAST });
  assertEquals(calls(), 1024);
});

Deno.test("demandNoLeak() takes growth in leaps for a garbage collector's", () => {
  const { traces, again } = leaking((call) =>
    call % 256 === 0 ? (call + 256) ** 2 << 4 : 0
  );
  traces.demandNoLeak({ again, ...FAST });
});

Deno.test("demandNoLeak() takes garbage that fills pages once for none", () => {
  // 3 KiB a call, until 16 MiB are in use: more than nine turns.
  const filling = leaking((call) => call < 5461 ? 3 << 10 : 0);
  filling.traces.demandNoLeak({ again: filling.again, ...FAST });
  const leak = leaking(() => 3 << 10);
  assertThrows(
    () => leak.traces.demandNoLeak({ again: leak.again, ...FAST }),
    Error,
    "leaked about 3 KiB",
  );
});

Deno.test("demandNoLeak() takes a heap that its collector empties for none", () => {
  // Pages stay in use once they were touched.
  let [heap, touched] = [0, 0];
  const device = { used: () => [touched], synchronize() {} };
  const again = () => {
    heap += 64 << 10;
    touched = Math.max(touched, heap);
  };
  const globals = globalThis as { gc?: () => void };
  const { gc } = globals;
  try {
    globals.gc = () => void (heap = 0);
    new Traces(device).demandNoLeak({ again, ...FAST });
  } finally {
    if (gc) globals.gc = gc;
    else delete globals.gc;
  }
});

Deno.test("demandNoLeak() does not look at slow calls, nor without a count", () => {
  const { traces, again, calls } = leaking(() => 1 << 20);
  traces.demandNoLeak({ again, calls: 1, ns: 1e9 });
  assertEquals(calls(), 0);
  new Traces({ synchronize() {} }).demandNoLeak({ again, ...FAST });
  assertEquals(calls(), 0);
});

Deno.test("demandNone() names all that the watch found", () => {
  const left = ["left an alarm behind", "left 2 more threads running"];
  const events: string[] = [];
  const traces = new Traces({
    synchronize() {},
    watch: () => ({
      warm: () => events.push("warm"),
      left: () => left,
      spoilt: () => false,
    }),
  });
  traces.warm();
  assertEquals([events, traces.spoilt()], [["warm"], "for all"]);
  assertThrows(
    () => traces.demandNone(),
    Error,
    "suspect: left an alarm behind; left 2 more threads running",
  );
});

Deno.test("working() looks at threads once, for the row and for the next case", () => {
  let looks = 0;
  const traces = new Traces({
    synchronize() {},
    watch: () => ({
      warm() {},
      left: () => [],
      spoilt: () => false,
      working: () => looks++ === 0,
    }),
  });
  assertEquals(
    [traces.working(), traces.spoilt(), looks],
    [true, "for all", 1],
  );
});

Deno.test("spoilt() wants another process after what a shared one may not survive", () => {
  const on = (left: readonly string[], busy: boolean) =>
    new Traces({
      synchronize() {},
      watch: () => ({
        warm() {},
        left: () => left,
        spoilt: () => false,
        working: () => busy,
      }),
    });
  const wrong = new CaseError("wrong", "");
  const shared = on([], false);
  assertEquals(
    [shared.spoilt(), shared.spoilt(new CaseError("oom", ""))],
    ["for none", "for none"],
  );
  const accuracy = {
    ...{ max_abs_err: 1, max_rel_err: 1, rel_l2_err: 1, mismatches: 1 },
    deterministic: true,
  };
  const contained = new WrongError("", accuracy, true);
  assertEquals(
    [
      shared.spoilt(wrong),
      shared.spoilt(new WrongError("", accuracy)),
      on(["left an alarm behind"], false).spoilt(),
      on([], true).spoilt(),
      on([], true).spoilt(contained),
    ],
    Array(5).fill("for all"),
  );
  assertEquals(shared.spoilt(contained), "for others");
  const apart = new Traces({ synchronize() {} });
  assertEquals(
    [apart.spoilt(wrong), apart.spoilt(new CaseError("launch", ""))],
    ["for none", "for all"],
  );
});

Deno.test("a context that a kernel ruined is none of what is looked for", () => {
  let ruined = false;
  const traces = new Traces({
    synchronize() {},
    persisting: {
      forbid() {},
      bytes() {
        if (ruined) throw new CaseError("launch", "an illegal access");
        return 0;
      },
    },
  });
  ruined = true;
  assertEquals(traces.spoilt(), "for none");
});

Deno.test("demandNoLeak() makes no calls where those that were timed took nothing", () => {
  const { traces, again, calls } = leaking(() => 64 << 10);
  const demand = (calls: number, taken: number) =>
    traces.demandNoLeak({
      again,
      ...FAST,
      timed: { calls, taken: [0, taken] },
    });
  demand(256, 1 << 19);
  assertEquals(calls(), 0);
  assertThrows(() => demand(255, 1 << 19), Error, "leaked about 64 KiB");
  assertThrows(() => demand(256, 1 + (1 << 19)), Error, "leaked about 64 KiB");
});

Deno.test("demandNoLeak() adds the calls that a turn has more than were timed", () => {
  const { traces, again, calls } = leaking(() => 4 << 10);
  const demand = (calls: number) =>
    traces.demandNoLeak({ again, ...FAST, timed: { calls, taken: [0, 0] } });
  // 128 calls that take 512 KiB; one more is beyond.
  demand(128);
  assertEquals(calls(), 128);
  assertThrows(() => demand(127), Error, "leaked about 4 KiB");
});

Deno.test("demandNoLeak() counts the calls of all sets", () => {
  const { traces, again, calls } = leaking(() => 16 * (64 << 10));
  assertThrows(
    () => traces.demandNoLeak({ again, calls: 16, ns: 1000 }),
    Error,
    "leaked about 64 KiB of memory in each of its last 2304 calls",
  );
  assertEquals(calls(), 9 * 16);
});
