import { assert, assertEquals, assertMatch } from "@std/assert";
import { join } from "node:path";
import { temporary } from "../../../bench/testdata/temporary.ts";
import { capturedSuites } from "../../../session/capture/suites_of.ts";
import {
  capturedGemm,
  capturedOf,
} from "../../../session/testdata/captured.ts";
import { program } from "../../testdata/program.ts";

const FP32 = { a: "f32", b: "f32", c: "f32" };

Deno.test("bench measures the suite of what was captured on a CPU, and table weighs it", async () => {
  using folder = temporary();
  const captured = capturedOf([
    capturedGemm({ ...FP32, n: 256, k: 512, layout: "nn", time_us: 300 }),
    // A stored transposed, of which one row is the same memory.
    capturedGemm({ ...FP32, m: 1, layout: "tn", lda: 1, time_us: 200 }),
    capturedGemm({ time_us: 100, name: "*/ bench\n" }),
    capturedGemm({ batch: 4, time_us: 50 }),
  ]);
  const path = (name: string) => join(folder.path, name);
  Deno.writeTextFileSync(path("captured.json"), JSON.stringify(captured));
  for (const { file, text } of capturedSuites(captured)) {
    Deno.writeTextFileSync(path(file), text);
  }
  const run = (line: string) => program(line.split(" "), { cwd: folder.path });
  const bench = await run(
    "bench --suite ./captured.ts --quick --backend cpu --out rows --rep 5",
  );
  assertEquals(bench.code, 0, bench.stderr);
  const { code, stdout, stderr } = await run(
    "table --weights captured.json rows --format json",
  );
  assertEquals([code, stderr], [0, ""]);
  const [weights] = JSON.parse(stdout);
  const [large, row, small, batch, ...rest] = weights.lines;
  assertEquals(
    [large, row, small, batch, ...rest].map(({ label, state }) => [
      label,
      state,
    ]),
    [
      ["16×256×512 f32 nn", "measured"],
      ["1×64×128 f32 tn", "measured"],
      ["16×64×128 bf16 nt", "measured"],
      ["4 of 16×64×128 bf16 nt", "no op"],
      ["softmax", "other"],
      ["no kernel", "other"],
    ],
  );
  for (const { measured } of [large, row]) {
    const { now, fastest, saved_ms } = measured;
    assertEquals(now.kernel, "openblas");
    assert(fastest.time_us <= now.time_us && saved_ms >= 0);
  }
  const text = await run("table --weights captured.json rows");
  assertMatch(text.stdout, /^sum +0\.500 +100\.0 % /m);
  assertMatch(text.stdout, /with the fastest kernels the step of 0\.500 ms/);
});
