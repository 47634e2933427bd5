import { assert, assertEquals, assertMatch, assertThrows } from "@std/assert";
import { existsSync } from "node:fs";
import { fake } from "../backends/fake/fake.ts";
import { UserError } from "../bench/model/errors.ts";
import { definePython } from "../bench/model/kernel.ts";
import type { Settings } from "../bench/model/settings.ts";
import { defineSuite, type Suite } from "../bench/model/suite.ts";
import type { Row } from "../bench/row/row.ts";
import type { Event } from "../bench/worker/protocol.ts";
import { matmul } from "../kernels/matmul/mod.ts";
import { qmm } from "../kernels/qmm/mod.ts";
import { ended, Silence, tell } from "../bench/testdata/supervised.ts";
import { naive } from "../kernels/matmul/cpu/cpu.ts";
import { withPeers } from "./cases.ts";
import { functionsOf } from "./functions.ts";
import { runPeers } from "./runner.ts";
import { file, jobIn, PROGRAM, suiteOf } from "./testdata/own_suite.ts";

const needed = {
  ignore: (() => {
    try {
      new Deno.Command("python3", { args: ["-c", ""] }).outputSync();
      return false;
    } catch {
      return true;
    }
  })(),
};

/** The rows of the Python cases of `suite`, measured by the real program on a torch of bytes. */
async function rowsOf(
  suite: Suite,
  more: Partial<Settings> = {},
): Promise<ReadonlyMap<string, Row>> {
  const cacheDir = Deno.makeTempDirSync();
  const events: Event[] = [];
  const job = jobIn(cacheDir, more);
  const backend = fake({ kernels: {} });
  const info = backend.find().devices[0]!;
  try {
    const cases = [...suite.cases("all")];
    await runPeers(
      job,
      { backend, info, cases, harness: "" },
      (event) => events.push(event),
      { program: PROGRAM },
    );
  } finally {
    Deno.removeSync(cacheDir, { recursive: true });
  }
  const rows = events.flatMap((e) => e.event === "row" ? [e.row] : []);
  return new Map(rows.map((row) => [row.key.kernel, row]));
}

Deno.test({
  name:
    "definePython() makes kernels that write or return outputs (needs python3)",
  ...needed,
  async fn() {
    const rows = await rowsOf(
      suiteOf(
        ["writes", "returns", "itself", "foreign"].map((fn) => `good.py:${fn}`),
      ),
    );
    for (const [kernel, row] of rows) {
      assert(row.status === "ok", `${kernel}: ${row.note}`);
      assertEquals(row.figures.median_us, 5);
      const { timer, library } = row.provenance;
      assertEquals({ timer, library }, {
        timer: "graph",
        library: "python torch 0.0",
      });
    }
    assertEquals(rows.size, 4);
    assertEquals(rows.get("returns")!.config, "BM=64");
  },
});

Deno.test({
  name:
    "examples/python makes calls of a custom op and of torch.compile (needs python3)",
  ...needed,
  async fn() {
    const folder = "../../../examples/python";
    const files = ["custom_op.py:matmul", "compiled.py:compiled"];
    const suite = suiteOf(files.map((one) => `${folder}/${one}`), {
      epilogue: "relu",
    });
    for (const [kernel, row] of await rowsOf(suite)) {
      assertEquals(row.status, "ok", `${kernel}: ${row.note}`);
    }
    // No torch of bytes runs Triton.
    const { success } = await new Deno.Command("python3", {
      args: [
        "-c",
        "import ast, sys; ast.parse(open(sys.argv[1]).read())",
        file(`${folder}/triton_matmul.py`),
      ],
    }).output();
    assert(success);
  },
});

Deno.test({
  name: "runPeers() checks a Python kernel without timing it (needs python3)",
  ...needed,
  async fn() {
    const rows = await rowsOf(
      suiteOf(["good.py:writes", "bad.py:computed_before"]),
      { checkOnly: true },
    );
    assertEquals(rows.get("writes")!.status, "checked");
    assertEquals(rows.get("computed_before")!.status, "wrong");
  },
});

const BAD: Readonly<Record<string, readonly [Row["status"], RegExp]>> = {
  "unimportable.py:fn": [
    "compile",
    /^cannot import unimportable\.py: ModuleNotFoundError: .*not_there' \(line 1\)$/,
  ],
  "bad.py:missing": [
    "compile",
    /^bad\.py has no function missing: there are returns_nothing, call_/,
  ],
  "bad.py:returns_nothing": ["compile", /^it returned nothing: return a func/],
  "bad.py:call_returns_nothing": [
    "compile",
    /^its call returned nothing and was given no C: return the output, or/,
  ],
  "bad.py:takes_what_is_not_there": [
    "compile",
    /^its parameter scale is no operand and no axis: there are m, n, k,/,
  ],
  "bad.py:of_another_type": [
    "wrong",
    /^its call returned torch.float16 \[4, 4\], not torch.bfloat16 \[4, 4\]$/,
  ],
  "bad.py:raises": ["compile", /^ValueError: K is odd \(line 31\)$/],
  "bad.py:refuses": ["unsupported", /needs M above 64/],
  "bad.py:synchronises": [
    "launch",
    /^cannot record the call in a graph: .* capturing; it must not allocate/,
  ],
  "bad.py:computed_before": ["wrong", /^replayed, C: 16 of 16 elements/],
  "bad.py:changes_an_input": ["wrong", /^A: is an input, and was changed$/],
  "bad.py:crashes": [
    "crash",
    /^Its Python was killed by SIGABRT \(Fatal Python error: Aborted\)$/,
  ],
  "bad.py:exits": ["compile", /^SystemExit: no more \(line \d+\)$/],
  "bad.py:exits_in_its_call": [
    "compile",
    /^SystemExit: no more \(line \d+\)$/,
  ],
  "bad.py:warns": ["compile", /^its call returned coroutine: return tensors/],
  "bad.py:kills_itself": ["crash", /^Its Python was killed by SIGKILL$/],
  "bad.py:closes_its_outputs": [
    "crash",
    /^Its Python (exited with code 1|was killed by SIGKILL)$/,
  ],
  "not_there.py:gone": [
    "compile",
    /^cannot import not_there\.py: FileNotFoundError: .*not_there\.py'/,
  ],
  "good.py:writes": ["ok", /^/],
};

Deno.test({
  name:
    "runPeers() makes a row of each mistake in a Python file, and loses nothing (needs python3)",
  ...needed,
  async fn() {
    const rows = await rowsOf(suiteOf(Object.keys(BAD)));
    for (const [name, [status, note]] of Object.entries(BAD)) {
      const row = rows.get(name.split(":")[1]!);
      assert(row, name);
      assertEquals(row.status, status, `${name}: ${row.note}`);
      assertMatch(row.note, note);
    }
  },
});

Deno.test({
  name:
    "runPeers() gives the inputs anew after a call that changed them (needs python3)",
  ...needed,
  async fn() {
    const rows = await rowsOf(
      suiteOf(["bad.py:changes_an_input", "good.py:writes"]),
    );
    assertEquals(
      [...rows.values()].map(({ status }) => status),
      ["wrong", "ok"],
    );
  },
});

Deno.test({
  name:
    "runPeers() gives a Python kernel the operands of any op as they are stored (needs python3)",
  ...needed,
  async fn() {
    const tells = definePython(qmm, {
      name: "tells",
      python: file("bad.py:tells"),
    });
    const rows = await rowsOf(defineSuite({
      name: "own-qmm",
      title: "Own",
      op: qmm,
      axes: { m: [2], n: [64], k: [256] },
      kernels: [tells],
      baselines: [],
    }));
    assertMatch(
      rows.get("tells")!.note,
      /x=torch.bfloat16\[2, 256\]\[256, 1\] w=torch.uint8/,
    );
  },
});

Deno.test({
  name:
    "runPeers() sees what a Python kernel writes between rows (needs python3)",
  ...needed,
  async fn() {
    const rows = await rowsOf(
      suiteOf(["bad.py:writes_padding", "good.py:writes"], { ldc: 6 }),
    );
    assertEquals(rows.get("writes")!.status, "ok");
    const { status, note } = rows.get("writes_padding")!;
    assertEquals(status, "wrong");
    assertEquals(note, "its call wrote the padding between the rows of C");
  },
});

Deno.test({
  name:
    "runPeers() gives a row of a Python kernel the reason why a reference throws (needs python3)",
  ...needed,
  async fn() {
    const broken = {
      ...matmul,
      reference() {
        throw new TypeError("no such thing");
      },
    };
    const rows = await rowsOf(suiteOf(["good.py:writes"], {}, broken));
    const { status, note } = rows.get("writes")!;
    assertEquals(status, "launch");
    assertEquals(
      note,
      "Cannot compute the reference of the op matmul: TypeError: no such thing",
    );
  },
});

Deno.test({
  name:
    "supervise() gives a function that hangs a row, and ends its Python (needs python3)",
  ...needed,
  async fn() {
    const folder = Deno.makeTempDirSync();
    const pid = `${folder}/pid`;
    Deno.env.set("MNKBENCH_TEST_PID", pid);
    const silence = new Silence();
    const { pathname } = new URL("./testdata/own_worker.ts", import.meta.url);
    const run = ["run", "--no-check", "-A", "--quiet", pathname];
    const told = await tell("", {
      ...silence.options,
      job: jobIn(folder),
      timeoutMs: 60_000,
      command: [Deno.execPath(), ...run, "bad.py:hangs", "good.py:writes"],
      async heard(event) {
        if (event.event !== "case" || event.key.kernel !== "hangs") return;
        while (!existsSync(pid)) {
          await new Promise((resolve) => setTimeout(resolve, 20));
        }
        await silence.pass(60_000);
      },
    });
    Deno.env.delete("MNKBENCH_TEST_PID");
    assertEquals(told.rows, [
      "hangs timeout: The kernel may hang: no progress for 60 s (--timeout)",
      "writes ok: ",
    ]);
    assert(await ended(Number(Deno.readTextFileSync(pid))));
    Deno.removeSync(folder, { recursive: true });
  },
});

Deno.test({
  name:
    "withPeers() measures the functions of a Python file beside a suite (needs python3)",
  ...needed,
  async fn() {
    const suite = withPeers(
      defineSuite({
        name: "own",
        title: "Own",
        op: matmul,
        axes: { m: [4], k: [32] },
        tie: { n: "m" },
        kernels: [naive],
        baselines: ["naive"],
        fixed: { type: "bf16", epilogue: "none" },
      }),
      file("good.py"),
    );
    const names = suite.kernels.map(({ name }) => name);
    assertEquals(names, ["naive", "writes", "returns", "itself", "foreign"]);
    const rows = await rowsOf(suite);
    assertEquals(
      [...rows.values()].map((
        { status, provenance: { library } },
      ) => [status, library]),
      Array(4).fill(["ok", "torch 0.0"]),
    );
  },
});

Deno.test("functionsOf() refuses a file without what is named", () => {
  const refusal = (name: string) =>
    assertThrows(() => functionsOf(file(name)), UserError).message;
  assertMatch(refusal("none.py"), /none\.py: there is no such file$/);
  assertMatch(refusal("good.py:writing"), /no function writing; there are wri/);
  assertMatch(refusal("good.py:a b"), /"a b" names no function of it$/);
  assertMatch(
    refusal("unimportable.py"),
    /no function with parameters A and B; name one, such as unimp/,
  );
});

Deno.test("definePython() names the field that is wrong", () => {
  for (const python of ["mine.py", "mine.cu:fn", "mine.py:9"]) {
    assertThrows(
      () => definePython(matmul, { name: "mine", python }),
      UserError,
      "it has a wrong python, such as `python: import.meta.resolve",
    );
  }
});
