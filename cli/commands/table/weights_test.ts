import { assertEquals, assertMatch } from "@std/assert";
import { join } from "node:path";
import { UserError } from "../../../bench/model/errors.ts";
import { temporary } from "../../../bench/testdata/temporary.ts";
import {
  capturedGemm,
  capturedOf,
} from "../../../session/testdata/captured.ts";
import { program, type Ran } from "../../testdata/program.ts";
import { weightsText } from "./weights.ts";

/** Of the shapes that decode-bf16-k7168 has, and others. */
const GEMMS = [
  capturedGemm({ n: 2112, k: 7168, time_us: 150 }),
  capturedGemm({ n: 512, k: 7168, time_us: 90 }),
  capturedGemm({ n: 51, k: 717 }),
  capturedGemm({ batch: 8 }),
];
const CAPTURED = capturedOf(GEMMS, { device: { name: "NVIDIA H200" } });

/** Runs `table --weights` of `content` with the recorded results. */
async function weigh(content: string, ...args: string[]): Promise<Ran> {
  using folder = temporary();
  const file = join(folder.path, "captured.json");
  Deno.writeTextFileSync(file, content);
  const { stderr, stdout, ...ran } = await program(
    ["table", "results/nvidia-h200", "--weights", file, ...args],
  );
  const text = (said: string) => said.replaceAll(folder.path, "DIR");
  return { ...ran, stdout: text(stdout), stderr: text(stderr) };
}

Deno.test("table --weights finds the recorded rows of what was captured", async () => {
  const { code, stdout, stderr } = await weigh(JSON.stringify(CAPTURED));
  assertEquals([code, stderr], [0, ""]);
  assertMatch(
    stdout,
    /^16×2112×7168 bf16 nt +5 +0\.075 +\d\d\.\d % +~?0\.0\d\d +\d\d\.\d % +\S+ +~?0\.\d{3} +~?0\.\d{3}$/m,
  );
  assertMatch(stdout, /^sum +0\.500 +100\.0 % /m);
  assertMatch(
    stdout,
    /^ +1 of 4 GEMMs not measured on NVIDIA H200: `.* --suite DIR\/captured\.ts /m,
  );
});

Deno.test("table --weights refuses two sets with the same cases", async () => {
  using folder = temporary();
  Deno.copyFileSync(
    "results/nvidia-h200/decode-bf16-k7168.csv",
    join(folder.path, "again.csv"),
  );
  const { code, stdout, stderr } = await weigh(
    JSON.stringify(CAPTURED),
    folder.path,
  );
  assertEquals([code, stdout], [2, ""]);
  assertMatch(stderr, /^error: Cannot weigh a program where .* the same cases/);
});

/** What `table --weights` prints of `content` where no row was measured. */
function textOf(
  content: string,
  format: "md" | "json" | "csv" = "json",
  more: Partial<Parameters<typeof weightsText>[1]> = {},
): string {
  using folder = temporary();
  const weights = join(folder.path, "captured.json");
  Deno.writeTextFileSync(weights, content);
  const none = { timer: undefined, cache: undefined };
  const options = { ...none, weights, format, ...more };
  try {
    return weightsText([], options, { width: 80, color: false });
  } catch (error) {
    if (!(error instanceof UserError)) throw error;
    return error.message.replaceAll(folder.path, "DIR");
  }
}

Deno.test("weightsText() writes Markdown, and JSON for programs", () => {
  const content = JSON.stringify(CAPTURED);
  const [weights] = JSON.parse(textOf(content));
  assertEquals(
    weights.lines.map(({ state }: { state: string }) => state),
    ["not measured", "not measured", "no op", "not measured", "other", "other"],
  );
  assertMatch(textOf(content, "md"), /^\| what runs \| calls a step \|/m);
  assertMatch(
    textOf(content, "csv"),
    /^--weights is for --format text, md and json: CSV has a line for each row$/,
  );
});

Deno.test("weightsText() refuses options of tables of rows", () => {
  const content = JSON.stringify(CAPTURED);
  const why = (more: Parameters<typeof textOf>[2]) =>
    textOf(content, "md", more).split(",")[0];
  assertEquals(why({ metrics: ["us"] }), "Cannot show --weights with --metric");
  assertEquals(why({ wins: true }), "Cannot show --weights with --wins");
  assertMatch(why({ wins: false, against: [] })!, /^\*\*python serve\.py/);
});

const [GEMM] = GEMMS;
const BAD: readonly (readonly [unknown, string])[] = [
  [{ ...CAPTURED, schema: 2 }, "field schema is 2: it must be 1"],
  [
    { ...CAPTURED, gemms: [{ ...GEMM, k: 0 }] },
    "field gemms.0.k: it must be a whole number from 1 to 2^53 - 1",
  ],
  [
    { ...CAPTURED, gemms: [{ ...GEMM, calls: 1e300 }] },
    "field gemms.0.calls: it must be a whole number from 0 to 2^53 - 1",
  ],
  [
    { ...CAPTURED, gemms: [{ ...GEMM, time_us: { number: "NaN" } }] },
    "field gemms.0.time_us is NaN: it must be a number",
  ],
  [{ ...CAPTURED, notes: "all" }, 'field notes is "all": it must be a list'],
  [[], "field schema is missing"],
];

for (const [content, why] of BAD) {
  Deno.test(`weightsText() refuses a file: ${why}`, () => {
    assertEquals(
      textOf(JSON.stringify(content)),
      `Cannot read DIR/captured.json: ${why}; write it again with \`capture\``,
    );
  });
}
