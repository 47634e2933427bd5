import { existsSync } from "node:fs";
import { assert, assertEquals } from "@std/assert";
import { PYTHON_VARIABLE } from "../bench/model/peer.ts";
import { ops } from "../kernels/mod.ts";
import { PYTHON as FOLDER } from "./cases.ts";

const PYTHON = Deno.env.get(PYTHON_VARIABLE) || "python3";

/** The value of `const name = …;` or `name = …` in a source. */
function constant(file: string, name: string): number {
  const text = Deno.readTextFileSync(new URL(file, import.meta.url));
  const found = new RegExp(`^(?:export )?(?:const )?${name} = ([^;\\n]+)`, "m")
    .exec(text)?.[1];
  assert(found !== undefined, `${file} has no constant ${name}`);
  const value = Number(found.replaceAll("_", ""));
  assert(Number.isFinite(value), `${file}: ${name} is ${found}`);
  return value;
}

for (
  const [file, names] of Object.entries({
    "../bench/measure/stats.ts": ["PHASES", "EXPLAINED", "MOST_SHIFT"],
    "../bench/measure/time.ts": [
      "LEAST_SAMPLES",
      "MOST_SAMPLES",
      "ESTIMATES",
      "AGREEMENT",
    ],
    "../bench/measure/open_stable.ts": [
      "CHAIN",
      "FIRST_WARM_MS",
      "AS_GOOD",
      "PATIENCE",
    ],
    "../bench/measure/context.ts": ["CASE_WARM_MS"],
  })
) {
  Deno.test(`the peers' stopwatch has the constants of ${file}`, () => {
    for (const name of names) {
      assertEquals(
        constant("./python/runtime/stopwatch.py", name),
        constant(file, name),
        name,
      );
    }
  });
}

/** Tells whether there is a Python that can run `code`. */
function runs(code: string): boolean {
  try {
    return new Deno.Command(PYTHON, {
      args: ["-c", code],
      stdout: "null",
      stderr: "null",
    }).outputSync().success;
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return false;
    throw error;
  }
}

const lacksTorch = !runs("import torch");
const lacksPython = !runs("");
const modules = [FOLDER, new URL("tests/", FOLDER)];

/** The tests of the program itself, and of each operation beside its module. */
const folders = [
  new URL("tests/", FOLDER),
  ...ops.flatMap(({ peers }) => peers ? [new URL("tests/", peers.module)] : []),
];
const tests = folders.filter((folder) => existsSync(folder)).flatMap((folder) =>
  [...Deno.readDirSync(folder)].map(({ name }) => name)
    .filter((name) => /^test_.*\.py$/.test(name))
    .map((name) => new URL(name, folder))
);

for (const url of tests) {
  const torch = Deno.readTextFileSync(url).includes("HAS_TORCH");
  const need = torch ? "a Python with PyTorch" : "python3";
  Deno.test({
    name: `${url.pathname.split("/").at(-1)} passes (needs ${need})`,
    ignore: torch ? lacksTorch : lacksPython,
    fn() {
      const { success, stderr } = new Deno.Command(PYTHON, {
        args: ["-B", url.pathname],
        env: { PYTHONPATH: modules.map(({ pathname }) => pathname).join(":") },
        stdout: "null",
      }).outputSync();
      assert(success, new TextDecoder().decode(stderr));
    },
  });
}
