import { deepStrictEqual, ok, strictEqual } from "node:assert/strict";
import { PEERS, peersOf } from "./torch.ts";

const FOLDER = new URL("./python/", import.meta.url);
const PYTHON = Deno.env.get("MNKBENCH_PYTHON") || "python3";

/** The value of `const name = …;` or `name = …` in a source. */
function constant(file: string, name: string): number {
  const text = Deno.readTextFileSync(new URL(file, import.meta.url));
  const found = new RegExp(`^(?:export )?(?:const )?${name} = ([^;\\n]+)`, "m")
    .exec(text)?.[1];
  ok(found !== undefined, `${file} has no constant ${name}`);
  const value = Number(found.replaceAll("_", ""));
  ok(Number.isFinite(value), `${file}: ${name} is ${found}`);
  return value;
}

for (
  const [file, names] of Object.entries({
    "../bench/measure/stats.ts": ["PHASES"],
    "../bench/measure/time.ts": ["LEAST_SAMPLES", "MOST_SAMPLES", "ESTIMATES"],
    "../bench/measure/warm_up.ts": ["AGREEMENT"],
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
      strictEqual(
        constant("./python/runtime/stopwatch.py", name),
        constant(file, name),
        name,
      );
    }
  });
}

Deno.test("peersOf() has none at an operation that the program does not know", () => {
  deepStrictEqual(peersOf("other"), []);
});

Deno.test("PEERS of one name are made alike", () => {
  for (const own of Map.groupBy(PEERS, ({ name }) => name).values()) {
    const made = own.map(({ searched, compiled }) => ({ searched, compiled }));
    deepStrictEqual(new Set(made.map((one) => JSON.stringify(one))).size, 1);
  }
});

Deno.test("PEERS that nothing is chosen for are those that the program only calls", () => {
  const text = Deno.readTextFileSync(new URL("runtime/planning.py", FOLDER));
  const names = [
    .../^FIXED = \((.*)\)$/m.exec(text)![1]!.matchAll(/"([^"]+)"/g),
  ].map((found) => found[1]!);
  const called = PEERS.filter(({ searched }) => !searched)
    .map(({ name }) => name);
  deepStrictEqual(names.toSorted(), [...new Set(called)].toSorted());
});

/** Whether a Python is there that can run `code`. */
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

const TESTS = new URL("tests/", FOLDER);
const lacksTorch = !runs("import torch");
const lacksPython = !runs("");

for (const { name: file } of Deno.readDirSync(TESTS)) {
  if (!/^test_.*\.py$/.test(file)) continue;
  const url = new URL(file, TESTS);
  const torch = Deno.readTextFileSync(url).includes("HAS_TORCH");
  const need = torch ? "a Python with PyTorch" : "python3";
  Deno.test({
    name: `the peers' program passes ${file} (needs ${need})`,
    ignore: torch ? lacksTorch : lacksPython,
    fn() {
      const { success, stderr } = new Deno.Command(PYTHON, {
        args: ["-B", url.pathname],
        stdout: "null",
      }).outputSync();
      ok(success, new TextDecoder().decode(stderr));
    },
  });
}
