import { deepStrictEqual, match, ok, strictEqual } from "node:assert/strict";
import { problemOf } from "../bench/suite.ts";
import { matmul } from "../kernels/matmul/mod.ts";
import { PEER_SOURCES, PEERS, peerUnsupported } from "./torch.ts";

const FOLDER = new URL("./torch/", import.meta.url);

Deno.test("PEER_SOURCES has every file of the program", () => {
  const files = [...Deno.readDirSync(FOLDER)].map(({ name }) => name)
    .filter((name) => name.endsWith(".py"));
  deepStrictEqual(
    PEER_SOURCES.map((url) => url.pathname.split("/").at(-1)),
    files.toSorted(),
  );
});

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
    "../bench/stats.ts": ["PHASES"],
    "../bench/time.ts": ["LEAST_SAMPLES", "MOST_SAMPLES", "ESTIMATES"],
    "../bench/warm.ts": ["AGREEMENT"],
    "../bench/steady.ts": ["CHAIN", "FIRST_WARM_MS", "AS_GOOD", "PATIENCE"],
    "../bench/rig.ts": ["CASE_WARM_MS"],
  })
) {
  Deno.test(`the peers' stopwatch has the constants of ${file}`, () => {
    for (const name of names) {
      strictEqual(
        constant("./torch/stopwatch.py", name),
        constant(file, name),
        name,
      );
    }
  });
}

const problem = (values: Record<string, number | string>) =>
  problemOf(matmul, matmul.point({ m: 16, n: 16, k: 256, ...values }));

Deno.test("peerUnsupported() says what a peer cannot be measured at", () => {
  const reasons = (
    values: Record<string, number | string>,
    { sizes = [16] } = {},
  ) => {
    const { key } = problem(values);
    return Object.fromEntries(
      PEERS.map((
        peer,
      ) => [peer.name, peerUnsupported(peer, { key, sizes })])
        .filter(([, reason]) => reason !== undefined),
    );
  };
  const plain = reasons({ epilogue: "none" });
  deepStrictEqual(Object.keys(plain), [
    "torch-custom-op-mm-relu",
    "torch-dynamic",
  ]);
  match(plain["torch-custom-op-mm-relu"]!, /no epilogue/);
  match(plain["torch-dynamic"]!, /several M/);
  deepStrictEqual(reasons({ epilogue: "bias+relu" }, { sizes: [1, 16] }), {});
  const { key } = problem({});
  const mixed = { ...key, b_type: "f32" as const };
  match(
    peerUnsupported(PEERS[0]!, { key: mixed, sizes: [16] })!,
    /one type of bf16, f16, f32/,
  );
});

const python = new Deno.Command("sh", {
  args: ["-c", "command -v python3"],
  stdout: "null",
}).outputSync().success;

Deno.test({
  name: "the peers' program passes its own tests (needs python3)",
  ignore: !python,
  fn() {
    const { success, stderr } = new Deno.Command("python3", {
      args: [new URL("tests/test_program.py", FOLDER).pathname],
      stdout: "null",
    }).outputSync();
    ok(success, new TextDecoder().decode(stderr));
  },
});
