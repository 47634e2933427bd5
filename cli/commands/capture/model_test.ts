import { assertEquals, assertMatch, assertThrows } from "@std/assert";
import { join } from "node:path";
import { UserError } from "../../../bench/model/errors.ts";
import { temporary } from "../../../bench/testdata/temporary.ts";
import { program } from "../../testdata/program.ts";
import { capturedOfModel } from "./model.ts";

const REFUSED: readonly (readonly [string | undefined, string])[] = [
  [
    undefined,
    "Cannot read DIR: there is no such file; name a model's config.json",
  ],
  [
    "{",
    "Cannot read DIR: it is damaged or cut short; name a model's config.json",
  ],
  ["", "Cannot read DIR: it is empty; name a model's config.json"],
  [
    "{}",
    "Cannot list the layers of this model: field model_type is missing; give the config.json of its repository",
  ],
];

for (const [text, why] of REFUSED) {
  Deno.test(`capturedOfModel() refuses a file: ${why}`, () => {
    using folder = temporary();
    const model = join(folder.path, "config.json");
    if (text !== undefined) Deno.writeTextFileSync(model, text);
    const { message } = assertThrows(
      () => capturedOfModel({ model, tp: 1, batch: 1 }),
      UserError,
    );
    assertEquals(message.replace(model, "DIR"), why);
  });
}

Deno.test("capture --model writes what list and table --weights read", async () => {
  using folder = temporary();
  const config = {
    model_type: "llama",
    hidden_size: 4096,
    num_hidden_layers: 32,
    num_attention_heads: 32,
    num_key_value_heads: 8,
    vocab_size: 128256,
    intermediate_size: 14336,
  };
  Deno.writeTextFileSync(
    join(folder.path, "config.json"),
    JSON.stringify(config),
  );
  const run = (line: string) => program(line.split(" "), { cwd: folder.path });
  const { code, stderr } = await run(
    "capture --model config.json --tp 2 --batch 8 --out llama",
  );
  assertEquals(code, 0, stderr);
  assertMatch(
    stderr,
    /^5 GEMMs in 129 calls\nshare of bound +calls +MxNxK .*\n +\d\d\.\d % +32 +8x14336x4096 /m,
  );
  assertMatch(
    stderr,
    /^No time is known: shares are of the bound on an H200 /m,
  );
  assertMatch(
    stderr,
    /\nNext, measure them: .*bench --suite llama\/captured\.ts\n$/,
  );
  const files = [...Deno.readDirSync(join(folder.path, "llama"))]
    .map(({ name }) => name).toSorted();
  assertEquals(files, ["captured.json", "captured.ts"]);
  const { stdout } = await run(
    "list --suite llama/captured.ts --cases --kernel cublas",
  );
  const sizes = [...stdout.matchAll(/ n=(\d+) k=(\d+)/g)].map(([, n, k]) =>
    `${n}x${k}`
  );
  assertEquals(sizes, [
    // By the bytes of 32 layers and of the output's words.
    ...["14336x4096", "4096x7168", "3072x4096", "4096x2048", "64128x4096"],
  ]);
  const results = new URL(
    "../../../results/nvidia-h200/router-bf16.csv",
    import.meta.url,
  );
  const table = await run(
    `table --weights llama/captured.json ${results.pathname}`,
  );
  assertEquals(table.code, 0, table.stderr);
  assertMatch(table.stdout, /^gate_up 8×14336×4096 bf16 nt +32 +\d\d\.\d % /m);
  assertMatch(table.stdout, /^sum +100\.0 %$/m);
  assertMatch(
    table.stdout,
    /5 of 5 GEMMs not measured: `.*bench --suite llama\/captured\.ts --peers torch`/,
  );
});
