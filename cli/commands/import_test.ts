import { assertEquals, assertMatch } from "@std/assert";
import { fileURLToPath } from "node:url";
import { program, type Ran } from "../testdata/program.ts";

const PERMISSIONS = {
  permissions: ["--allow-read", "--allow-write", "--allow-env"],
};
const V3 = "results/published/decompose-k-v3";
const SOURCES = fileURLToPath(
  new URL("../../report/import/testdata/", import.meta.url),
);

function run(...args: string[]): Promise<Ran> {
  return program(args, PERMISSIONS);
}

/** A folder that is gone after the test. */
function temporary(): { path: string } & Disposable {
  const path = Deno.makeTempDirSync();
  return {
    path,
    [Symbol.dispose]: () => Deno.removeSync(path, { recursive: true }),
  };
}

Deno.test("table --wide writes a file a suite, which import gives back", async () => {
  using folder = temporary();
  const { path } = folder;
  assertEquals(
    (await run("table", "--wide", "--out", `${path}/wide`, V3)).code,
    0,
  );
  assertEquals(
    [...Deno.readDirSync(`${path}/wide`)].map((e) => e.name).toSorted(),
    [
      "epilogue_relu_bf16.csv",
      "plain_matmul_bf16.csv",
      "plain_matmul_fp16.csv",
      "plain_matmul_fp32.csv",
    ],
  );
  const back = await run(
    ..."import --run decompose-k-v3 --out".split(" "),
    path,
    `${path}/wide`,
  );
  assertEquals([back.code, back.stdout], [0, ""]);
  assertMatch(back.stderr, /epilogue-bf16\.csv: 196 rows$/m);
  for (const suite of ["epilogue-bf16", "matmul-fp32"]) {
    assertEquals(
      Deno.readTextFileSync(`${path}/decompose-k-v3/${suite}.csv`),
      Deno.readTextFileSync(`${V3}/${suite}.csv`),
    );
  }
});

Deno.test("import says what it replaces and refuses one case from two files", async () => {
  using folder = temporary();
  const take = (...files: string[]) =>
    run("import", "--run", "r", "--out", folder.path, ...files);
  const file = `${SOURCES}plain_matmul_fp32.csv`;
  assertEquals((await take(file)).code, 0);
  assertMatch(
    (await take(file)).stderr,
    /8 rows, 8 of them in place of older ones/,
  );
  Deno.copyFileSync(file, `${folder.path}/again.csv`);
  const { code, stderr } = await take(file, `${folder.path}/again.csv`);
  assertEquals(code, 2);
  assertMatch(
    stderr,
    /again\.csv: .*plain_matmul_fp32\.csv has torch\.mm at 16×16×28672/,
  );
});
