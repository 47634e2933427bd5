import { stopClock } from "../../bench/testdata/stop_clock.ts";
import {
  assert,
  assertEquals,
  assertMatch,
  assertRejects,
  assertStrictEquals,
} from "@std/assert";
import { BinaryCache, type Built } from "../../bench/device/binary_cache.ts";
import { CaseError, UserError } from "../../bench/model/errors.ts";
import { defineKernel } from "../../bench/model/kernel.ts";
import { defineSuite } from "../../bench/model/suite.ts";
import { matmul, type MatmulPoint } from "../../kernels/matmul/mod.ts";
import type { Settings } from "../../bench/model/settings.ts";
import type { FakeKernel } from "./fake.ts";
import {
  memoryOf,
  multiply,
  right,
  rowsOf,
  suiteOf,
} from "../testdata/spine.ts";

Deno.test("run() does not time a wrong kernel", async () => {
  let launches = 0;
  const zeros: FakeKernel = {
    ns: (launch) => (launches = launch + 1, 5000),
    run: (args) => memoryOf(args[2]).fill(0),
  };
  const { rows: [row] } = await rowsOf(suiteOf(["zeros"]), {
    kernels: { zeros },
  });
  assert(row?.status === "wrong");
  assertMatch(row.note, /C: 16 of 16 elements mismatch \(100 %\)/);
  assertStrictEquals(row.accuracy?.mismatches, 16);
  assertStrictEquals(launches, 1);
});

Deno.test("run() blames no kernel for a disk that has no room for its copy", async () => {
  class Full extends BinaryCache {
    override copyOf(built: Built): string {
      if (built.path.includes("instruments")) return super.copyOf(built);
      throw new UserError("Cannot keep kernels: No space left on device");
    }
  }
  await assertRejects(
    () =>
      rowsOf(suiteOf(["right"]), {
        kernels: { right },
        cacheIn: (folder) => new Full(folder),
      }),
    UserError,
    "No space left",
  );
});

const FAULTS: readonly [string, FakeKernel["run"], RegExp][] = [
  [
    "leaves all unwritten",
    () => {},
    /16 of 16 elements are NaN: left unwritten/,
  ],
  [
    "leaves one unwritten",
    (args) => {
      multiply(args);
      memoryOf(args[2]).fill(0xff, 6, 8);
    },
    /1 of 16 elements are NaN/,
  ],
  [
    "writes past the end",
    (args) => {
      multiply(args);
      const c = memoryOf(args[2]);
      new Uint8Array(c.buffer).fill(0, c.byteOffset + 32, c.byteOffset + 40);
    },
    /C: wrote 8 bytes past its end/,
  ],
  [
    "writes before the start",
    (args) => {
      multiply(args);
      const c = memoryOf(args[2]);
      new Uint8Array(c.buffer).fill(0, c.byteOffset - 3, c.byteOffset);
    },
    /C: wrote 3 bytes before its start/,
  ],
  [
    "changes an input",
    (args) => {
      multiply(args);
      memoryOf(args[1])[9]! ^= 1;
    },
    /B: is an input, and was changed at byte 9/,
  ],
];

for (const [name, body, note] of FAULTS) {
  Deno.test(`run() finds that a kernel ${name}`, async () => {
    const { rows } = await rowsOf(suiteOf(["bad", "right"]), {
      kernels: { bad: { ns: 5000, run: body! }, right },
    });
    assertStrictEquals(rows[0]!.status, "wrong");
    assertMatch(rows[0]!.note, note);
    assertStrictEquals(
      rows[1]!.status,
      "ok",
      "the next kernel is not affected",
    );
  });
}

Deno.test("run() finds a kernel that is right only at first", async () => {
  let calls = 0;
  const fickle: FakeKernel = {
    ns: 5000,
    run(args) {
      if (calls++ < 10) multiply(args);
      else memoryOf(args[2]).fill(0);
    },
  };
  const { rows: [row] } = await rowsOf(suiteOf(["fickle"]), {
    kernels: { fickle },
  });
  assertStrictEquals(row!.status, "wrong");
  assertMatch(
    row!.note,
    /^while timed, at sample \d+ of 33: C \(\d, \d\) is 0 /,
  );
});

/** Calls of a case of `entry` by `timer`. */
async function callsOf(timer: Settings["timer"]): Promise<number> {
  let calls = 0;
  await rowsOf(suiteOf(["right"]), {
    kernels: { right: { ns: 5000, run: (args) => (calls++, multiply(args)) } },
    settings: { timer },
  });
  return calls;
}

Deno.test("run() compares every element of the last sample", async () => {
  using _clock = stopClock();
  const all = await callsOf("do_bench");
  let calls = 0;
  // More elements than are compared of a copy.
  const late: FakeKernel = {
    ns: 5000,
    run(args) {
      multiply(args);
      // The last call but one is the last sample.
      if (++calls === all - 1) memoryOf(args[1])[9]! ^= 1;
    },
  };
  const { rows: [row] } = await rowsOf(suiteOf(["late"]), {
    kernels: { late },
  });
  assertStrictEquals(row!.status, "wrong");
  assertMatch(row!.note, /^after timing, B: is an input, and was changed/);
});

for (const timer of ["do_bench", "graph", "batch:3"] as const) {
  Deno.test(`run() finds a kernel that stops working after it was timed by ${timer}`, async () => {
    let calls = 0;
    using _clock = stopClock();
    const all = await callsOf(timer);
    const sets = timer === "batch:3" ? 3 : 1;
    const stale: FakeKernel = {
      ns: 5000,
      run(args) {
        if (++calls <= all - sets) multiply(args);
      },
    };
    const { rows: [row] } = await rowsOf(suiteOf(["stale"]), {
      kernels: { stale },
      settings: { timer },
    });
    assertStrictEquals(row!.status, "wrong");
    assertStrictEquals(
      row!.note,
      "right at first, but not when called again after timing: C: 16 of 16 elements are NaN: left unwritten, or computed from what is not an input",
    );
  });
}

Deno.test("run() finds a kernel that stops working for one set of a batch", async () => {
  let calls = 0;
  using _clock = stopClock();
  const all = await callsOf("batch:3");
  const stale: FakeKernel = {
    ns: 5000,
    run(args) {
      if (++calls !== all - 1) multiply(args);
    },
  };
  const { rows: [row] } = await rowsOf(suiteOf(["stale"]), {
    kernels: { stale },
    settings: { timer: "batch:3" },
  });
  assertStrictEquals(row!.status, "wrong");
  assertMatch(row!.note, /after timing: with input set 2 of 3, C: 16 of 16/);
  assertStrictEquals(row!.status === "wrong" && row!.accuracy?.mismatches, 0);
});

Deno.test("run() finds a kernel that is wrong for one set of a batch", async () => {
  let calls = 0;
  using _clock = stopClock();
  const all = await callsOf("batch:3");
  const zeros: FakeKernel = {
    ns: 5000,
    run(args) {
      if (++calls !== all) multiply(args);
      else memoryOf(args[2]).fill(0);
    },
  };
  const { rows: [row] } = await rowsOf(suiteOf(["zeros"]), {
    kernels: { zeros },
    settings: { timer: "batch:3" },
  });
  assertStrictEquals(row!.status, "wrong");
  assertMatch(
    row!.note,
    /after timing: with input set 3 of 3, C \(\d, \d\) is 0 instead of/,
  );
});

Deno.test("run() finds a kernel that is wrong in one place only", async () => {
  const inputs: ArrayBuffer[] = [];
  const misplaced: FakeKernel = {
    ns: 5000,
    run(args) {
      multiply(args);
      const { buffer } = memoryOf(args[0]);
      if (!inputs.includes(buffer)) inputs.push(buffer);
      if (buffer === inputs.at(-1) && inputs.length > 3) {
        memoryOf(args[2]).fill(0);
      }
    },
  };
  const { rows: [row] } = await rowsOf(suiteOf(["misplaced"]), {
    kernels: { misplaced },
    placement: { copies: 4, pageBytes: 1 << 16 },
  });
  assertStrictEquals(row!.status, "wrong");
  assertMatch(row!.note, /with input set [234] of 4|input set [234] of 4: /);
});

Deno.test("run() turns failures of a kernel into rows", async () => {
  const { rows } = await rowsOf(suiteOf(["lost", "nowhere", "right"]), {
    kernels: {
      lost: {
        ns: 1,
        run() {
          throw new CaseError("launch", "Cannot synchronise: illegal address");
        },
      },
      right,
    },
  });
  assertEquals(rows.map((r) => [r.status, r.note]), [
    ["launch", "Cannot synchronise: illegal address"],
    ["launch", "Cannot load nowhere: no such entry"],
    ["ok", ""],
  ]);
});

Deno.test("run() gives the compiler's first error and keeps its log", async () => {
  const { rows: [row] } = await rowsOf(suiteOf(["right"]), {
    kernels: { right },
    compileErrors: { "fake.ts": "fake.ts(1): error: no\nmore" },
  });
  assertStrictEquals(row!.status, "compile");
  assertMatch(
    row!.note,
    /^fake\.ts\(1\): error: no \(log: .*fake\.[0-9a-f]+\.log\)$/,
  );
});

Deno.test("run() reports an allocation that does not fit", async () => {
  const hungry = defineKernel(matmul, {
    name: "hungry",
    backend: "fake",
    idea: "asks for too much",
    prepare: ({ alloc }) => (alloc(2 ** 31), { steps: [] }),
  });
  const suite = defineSuite<MatmulPoint>({
    name: "s",
    title: "S",
    op: matmul,
    axes: { m: [4], k: [32] },
    tie: { n: "m" },
    kernels: [hungry],
    baselines: [],
  });
  const { rows: [row] } = await rowsOf(suite, { kernels: {} });
  assertStrictEquals(row!.status, "oom");
  assertMatch(row!.note, /Cannot allocate 2147483648 bytes/);
});

Deno.test("run() finds a kernel that is wrong the second time only", async () => {
  let calls = 0;
  const { rows: [row] } = await rowsOf(suiteOf(["second"]), {
    kernels: {
      second: {
        ns: 5000,
        run(args) {
          if (calls++ !== 1) multiply(args);
          else memoryOf(args[2]).fill(0);
        },
      },
    },
  });
  assertStrictEquals(row!.status, "wrong");
  assertMatch(row!.note, /^on its second run, C: 16 of 16/);
});

Deno.test("run() finds a kernel that does nothing the second time only", async () => {
  let calls = 0;
  const { rows: [row] } = await rowsOf(suiteOf(["second"]), {
    kernels: {
      second: {
        ns: 5000,
        run(args) {
          if (calls++ !== 1) multiply(args);
        },
      },
    },
  });
  assertStrictEquals(row!.status, "wrong");
  assertMatch(row!.note, /^on its second run, C: 16 of 16 elements mismatch/);
});

Deno.test("run() makes a mistake in a kernel's TypeScript its row", async () => {
  const broken = (part: "prepare" | "step" | "unsupported") =>
    defineKernel(matmul, {
      name: part,
      backend: "fake",
      idea: "throws",
      unsupported() {
        if (part === "unsupported") throw new TypeError("no such thing");
        return undefined;
      },
      prepare() {
        if (part === "prepare") throw new TypeError("no such thing");
        const enqueue = () => {
          throw new TypeError("no such thing");
        };
        return { steps: [{ label: "a step", capturable: false, enqueue }] };
      },
    });
  const suite = defineSuite<MatmulPoint>({
    name: "s",
    title: "S",
    op: matmul,
    axes: { m: [4], k: [32] },
    tie: { n: "m" },
    kernels: [broken("prepare"), broken("step"), broken("unsupported")],
    baselines: [],
  });
  const { rows } = await rowsOf(suite, { kernels: {} });
  assertEquals(rows.map(({ status, note }) => [status, note]), [
    ["launch", "Cannot prepare the kernel: TypeError: no such thing"],
    ["launch", "Cannot run a step: TypeError: no such thing"],
    [
      "launch",
      "Cannot say whether the kernel runs here: TypeError: no such thing",
    ],
  ]);
});
