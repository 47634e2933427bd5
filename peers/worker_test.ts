import { deepStrictEqual, match, ok, strictEqual } from "node:assert/strict";
import { needed, rowsOf } from "../cli/testdata/peers.ts";

Deno.test({
  name:
    "measurePeers() makes a row of each case, whatever happens to the others (needs python3)",
  ...needed,
  async fn() {
    const { rows, events } = await rowsOf();
    deepStrictEqual(
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
    strictEqual(rows.length, 7);
    const of = (name: string) => rows.find((r) => r.key.kernel === name)!;
    const eager = of("torch-eager");
    ok(eager.status === "ok");
    strictEqual(eager.figures.median_us, 5.0015);
    strictEqual(eager.figures.floor_us, 3);
    strictEqual(eager.accuracy.deterministic, true);
    strictEqual(eager.config_by, "fixed");
    const { timer, library, compiler, sm_mhz } = eager.provenance;
    deepStrictEqual({ timer, library, compiler, sm_mhz }, {
      timer: "graph",
      library: "torch 2.0",
      compiler: "",
      sm_mhz: 1980,
    });
    const triton = of("triton-decompose-k");
    ok(triton.status === "ok");
    strictEqual(triton.accuracy.deterministic, false);
    strictEqual(triton.config, "choice=x SPLIT=4");
    strictEqual(triton.config_by, "search");
    strictEqual(triton.provenance.compiler, "triton 3.0");
    match(of("torch-compiled").note, /^after timing, C: 16 of 16 elements/);
    match(of("torch-custom-op-mm-relu").note, /exited with code 9.*lost/);
    match(of("triton-decompose-k-tile").note, /^A: is an input/);
    const announced = events.filter((e) => e.event === "case").length;
    // The row that was lost is announced again by the next program, but not measured.
    strictEqual(announced, 7);
    ok(events.at(-1)!.event === "done");
    const sampled = events.filter((e) => e.event === "row" && e.samples);
    strictEqual(sampled.length, 2);
  },
});

Deno.test({
  name:
    "measurePeers() says why nothing can be measured, and the way out (needs python3)",
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
    strictEqual(measured.length, 6);
    for (const row of measured) {
      strictEqual(row.status, "unsupported");
      match(row.note, /has no torch/);
      match(row.note, /--python PATH or MNKBENCH_PYTHON$/);
    }
  },
});

Deno.test("measurePeers() takes a Python that is not there for a reason", async () => {
  const { rows } = await rowsOf({ path: "/nonexistent/python3" });
  ok(rows.every(({ status }) => status === "unsupported"));
  match(rows.at(-1)!.note, /Cannot start \/nonexistent\/python3/);
});

Deno.test({
  name:
    "measurePeers() gives up a program that dies before any result (needs python3)",
  ...needed,
  async fn() {
    const file = Deno.makeTempFileSync({ suffix: ".py" });
    Deno.writeTextFileSync(file, "raise SystemError('broken')\n");
    try {
      const { rows } = await rowsOf({ program: new URL(`file://${file}`) });
      const crashed = rows.filter(({ status }) => status === "crash");
      strictEqual(crashed.length, 6);
      match(crashed[0]!.note, /exited with code 1.*SystemError: broken/);
    } finally {
      Deno.removeSync(file);
    }
  },
});
