import { assert, assertEquals, assertMatch } from "@std/assert";
import { fake } from "../backends/fake/fake.ts";
import type { Calibration } from "../bench/measure/figures.ts";
import { DEFAULTS } from "../bench/model/settings.ts";
import { defineSuite, type Overrides } from "../bench/model/suite.ts";
import type { Row } from "../bench/row/row.ts";
import type { Event, Job } from "../bench/worker/protocol.ts";
import { matmul } from "../kernels/matmul/mod.ts";
import { naive } from "../kernels/matmul/cpu/cpu.ts";
import { withPeers } from "./cases.ts";
import { runPeers } from "./runner.ts";

const suite = defineSuite({
  name: "tiny",
  title: "Tiny",
  op: matmul,
  axes: { m: [4], k: [32] },
  tie: { n: "m" },
  fixed: { type: "bf16", epilogue: "relu" },
  kernels: [naive],
  baselines: ["naive"],
});
const beside = withPeers(suite);
const FAKE = new URL("./testdata/fake_peers.py", import.meta.url);
const calibration: Calibration = {
  marker_us: 1,
  launch_us: 2,
  graph_us: 3,
  timer: "graph",
  call_us: 3,
  load: [{ bytes: 1, us: 3 }, { bytes: 1024, us: 4 }],
  peak: {},
};

/** The first `python3` that is there. */
const python = (() => {
  try {
    new Deno.Command("python3", { args: ["-c", ""] }).outputSync();
    return "python3";
  } catch {
    return undefined;
  }
})();
/** Of tests that need it. */
const needed = { ignore: python === undefined };

/** The rows and events of measuring the peers of a tiny suite, with another program or Python. */
async function rowsOf(
  { program = FAKE, path = python!, overrides = {}, ...patience }: {
    program?: URL;
    patienceMs?: number;
    path?: string;
    overrides?: Overrides;
  } = {},
): Promise<{ rows: Row[]; events: Event[] }> {
  const cacheDir = Deno.makeTempDirSync();
  const events: Event[] = [];
  const job: Job = {
    suites: [],
    backend: "fake",
    device: 0,
    cases: [],
    peers: { set: "torch", python: path },
    settings: { ...DEFAULTS, timer: "graph", cacheDir },
    skip: [],
    configs: {},
    run: "r",
    calibration,
  };
  const backend = fake({ kernels: {} });
  const [info] = backend.find().devices;
  try {
    const cases = [...beside.cases("all", overrides)];
    const assigned = { backend, info: info!, cases, harness: "" };
    const emit = (event: Event) => events.push(event);
    assertEquals(
      await runPeers(job, assigned, emit, { program, ...patience }),
      0,
    );
  } finally {
    Deno.removeSync(cacheDir, { recursive: true });
  }
  const rows = events.flatMap((e) => e.event === "row" ? [e.row] : []);
  return { rows, events };
}

Deno.test({
  name:
    "runPeers() makes a row of each case, whatever happens to the others (needs python3)",
  ...needed,
  async fn() {
    const { rows, events } = await rowsOf();
    assertEquals(
      Object.fromEntries(rows.map((row) => [row.key.kernel, row.status])),
      {
        "torch-eager": "ok",
        "torch-compiled": "wrong",
        "torch-custom-op-mm": "compile",
        "torch-custom-op-mm-relu": "crash",
        "triton-decompose-k-tile": "wrong",
        "triton-decompose-k": "ok",
        "torch-dynamic": "unsupported",
      },
    );
    assertEquals(rows.length, 7);
    const of = (name: string) => rows.find((r) => r.key.kernel === name)!;
    const eager = of("torch-eager");
    assert(eager.status === "ok");
    assertEquals(eager.figures.median_us, 5.0015);
    assertEquals(eager.figures.floor_us, 3);
    assertEquals(eager.accuracy.deterministic, true);
    assertEquals(eager.config_by, "fixed");
    const { timer, library, compiler, sm_mhz } = eager.provenance;
    assertEquals({ timer, library, compiler, sm_mhz }, {
      timer: "graph",
      library: "torch 2.0",
      compiler: "",
      sm_mhz: 1980,
    });
    const triton = of("triton-decompose-k");
    assert(triton.status === "ok");
    assertEquals(triton.accuracy.deterministic, false);
    assertEquals(triton.config, "choice=x SPLIT=4");
    assertEquals(triton.config_by, "search");
    assertEquals(triton.provenance.compiler, "triton 3.0");
    assertMatch(
      of("torch-compiled").note,
      /^after timing, C: 16 of 16 elements/,
    );
    assertMatch(of("torch-custom-op-mm-relu").note, /exited with code 9.*lost/);
    assertMatch(of("triton-decompose-k-tile").note, /^A: is an input/);
    const announced = events.filter((e) => e.event === "case").length;
    // The row that was lost is announced again by the next program, but not measured.
    assertEquals(announced, 7);
    assert(events.at(-1)!.event === "done");
    const sampled = events.filter((e) => e.event === "row" && e.samples);
    assertEquals(sampled.length, 2);
  },
});

Deno.test({
  name:
    "runPeers() says why nothing can be measured, and the way out (needs python3)",
  ...needed,
  async fn() {
    const own = new URL("./python/peers.py", import.meta.url);
    // Without the packages of this machine, among which there may be a torch.
    const bare = Deno.makeTempFileSync();
    Deno.writeTextFileSync(bare, '#!/bin/sh\nexec python3 -S "$@"\n');
    Deno.chmodSync(bare, 0o755);
    const { rows } = await rowsOf({ program: own, path: bare });
    Deno.removeSync(bare);
    const measured = rows.filter((r) => r.key.kernel !== "torch-dynamic");
    assertEquals(measured.length, 6);
    for (const row of measured) {
      assertEquals(row.status, "unsupported");
      assertMatch(row.note, /has no torch, so name a Python/);
      assertMatch(row.note, /--python PATH or MNKBENCH_PYTHON$/);
    }
  },
});

Deno.test("runPeers() takes a Python that is not there for a reason", async () => {
  const { rows } = await rowsOf({ path: "/nonexistent/python3" });
  assert(rows.every(({ status }) => status === "unsupported"));
  assertMatch(rows.at(-1)!.note, /Cannot start \/nonexistent\/python3/);
});

Deno.test({
  name:
    "runPeers() gives up a program that dies before any result (needs python3)",
  ...needed,
  async fn() {
    const file = Deno.makeTempFileSync({ suffix: ".py" });
    Deno.writeTextFileSync(file, "raise SystemError('broken')\n");
    try {
      const { rows } = await rowsOf({ program: new URL(`file://${file}`) });
      const crashed = rows.filter(({ status }) => status === "crash");
      assertEquals(crashed.length, 6);
      assertMatch(crashed[0]!.note, /exited with code 1.*SystemError: broken/);
    } finally {
      Deno.removeSync(file);
    }
  },
});

Deno.test({
  name:
    "runPeers() makes rows of what a program should not say (needs python3)",
  ...needed,
  async fn() {
    const result = (outputs: string) =>
      `"result", id=i, status="ok", config={}, cached=False, tried=0, search_ms=0, changed=None, outputs=${outputs}, samples=[5.0], spent_ms=1, chosen_ms=1, telemetry={}`;
    const said = async (lines: string) => {
      const file = Deno.makeTempFileSync({ suffix: ".py" });
      Deno.writeTextFileSync(
        file,
        `import json, sys
job = json.loads(sys.stdin.readline())
def say(event, **fields): print(json.dumps({"event": event, **fields}), flush=True)
i = job["cases"][0]["id"]
${lines}`,
      );
      try {
        const { rows } = await rowsOf({ program: new URL(`file://${file}`) });
        assertEquals(new Set(rows.map((r) => r.key.kernel)).size, 7);
        assertEquals(rows.length, 7);
        return rows.find(({ key }) => key.kernel === "torch-eager")!;
      } finally {
        Deno.removeSync(file);
      }
    };
    const cases: readonly [string, string, RegExp][] = [
      ['print("hello")', "crash", /said what is no message: hello before any/],
      ['say("case", id=99)', "crash", /spoke of case 99, which it was not to/],
      [
        'say("result", id=-1, status="oom", note="")',
        "crash",
        /spoke of case -1/,
      ],
      [
        `say("case", id=i)\nsay(${result('["/nonexistent"] * 3')})`,
        "crash",
        /^The peers' program wrote no output \/nonexistent$/,
      ],
      [
        `say("case", id=i)
path = job["scratch"] + "/out"
open(path, "wb").write(bytes(128))
say(${result("[path] * 3")})`,
        "wrong",
        /^C: has 128 bytes, and 4×4 of bf16 are 32$/,
      ],
    ];
    for (const [lines, status, note] of cases) {
      const row = await said(lines);
      assertEquals(row.status, status, row.note);
      assertMatch(row.note, note);
    }
  },
});

Deno.test({
  name: "runPeers() gives up a program that never says a word (needs python3)",
  ...needed,
  async fn() {
    const file = Deno.makeTempFileSync({ suffix: ".py" });
    Deno.writeTextFileSync(file, "import time\ntime.sleep(60)\n");
    try {
      const program = new URL(`file://${file}`);
      const { rows } = await rowsOf({ program, patienceMs: 100 });
      const crashed = rows.filter(({ status }) => status === "crash");
      assertEquals(crashed.length, 6);
      assertMatch(
        crashed[0]!.note,
        /its program said nothing for 0\.1 s before any/,
      );
    } finally {
      Deno.removeSync(file);
    }
  },
});
