import { match, strictEqual } from "node:assert/strict";
import { needed, rowsOf } from "../testdata/peers.ts";

Deno.test({
  name:
    "measurePeers() makes rows of what a program should not say (needs python3)",
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
        strictEqual(new Set(rows.map((r) => r.key.kernel)).size, 7);
        strictEqual(rows.length, 7);
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
      strictEqual(row.status, status, row.note);
      match(row.note, note);
    }
  },
});

Deno.test({
  name:
    "measurePeers() gives up a program that never says a word (needs python3)",
  ...needed,
  async fn() {
    const file = Deno.makeTempFileSync({ suffix: ".py" });
    Deno.writeTextFileSync(file, "import time\ntime.sleep(60)\n");
    try {
      const program = new URL(`file://${file}`);
      const { rows } = await rowsOf({ program, patienceMs: 100 });
      const crashed = rows.filter(({ status }) => status === "crash");
      strictEqual(crashed.length, 6);
      match(crashed[0]!.note, /its program said nothing for 0\.1 s before any/);
    } finally {
      Deno.removeSync(file);
    }
  },
});
