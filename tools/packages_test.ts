import { assert, assertEquals, assertStrictEquals } from "@std/assert";
import { BUNDLE, bundlePage } from "./page_bundle.ts";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const TYPES = Deno.readTextFileSync(new URL("std.d.ts", import.meta.url));

for (const [, name, body] of TYPES.matchAll(/module "([^"]+)" \{(.*?)^\}/gms)) {
  Deno.test(`std.d.ts declares what ${name} exports`, async () => {
    const real: Record<string, unknown> = await import(name!);
    const declared = [...body!.matchAll(/export (?:function|class) (\w+)/g)]
      .map(([, value]) => value!);
    assert(declared.length > 0);
    assertEquals(declared.filter((value) => !(value in real)), []);
  });
}

const committed = await Deno.readTextFile(
  new URL(`../${BUNDLE}`, import.meta.url),
);

Deno.test("the page's bundle is that of its modules", async () => {
  // Not by assertEquals(): a difference of two texts this long takes more memory than there is.
  assert(
    await bundlePage() === committed,
    `${BUNDLE} is of older modules: run deno task bundle`,
  );
});

Deno.test("the page's bundle is a script that stays inside its element", () => {
  // Compiles it; the page runs it in tests with a browser.
  assertStrictEquals(typeof new Function(committed), "function");
  assert(!committed.includes("</script"));
});

const MODULE = fileURLToPath(new URL("../mod.ts", import.meta.url));

Deno.test("mod.ts checks under Deno's own compiler options, as a suite elsewhere has them", async () => {
  const folder = await Deno.makeTempDir();
  try {
    const config = { imports: { mnkbench: MODULE } };
    await Deno.writeTextFile(join(folder, "deno.json"), JSON.stringify(config));
    await Deno.writeTextFile(
      join(folder, "my_suite.ts"),
      `import { defineLaunch, defineSuite, kernels, matmul } from "mnkbench";
const mine = defineLaunch(matmul, {
  name: "mine",
  backend: "cuda",
  entry: "mine",
  source: new URL("./mine.cu", import.meta.url),
  shape: ({ m, n }) => ({ grid: [n, m, 1], block: [32, 1, 1] }),
});
export default defineSuite({
  name: "my-suite",
  title: "Mine",
  op: matmul,
  axes: { m: [16], k: [8192] },
  tie: { n: "m" },
  kernels: [...kernels, mine],
  baselines: ["cublas"],
});
`,
    );
    const { code, stderr } = await new Deno.Command(Deno.execPath(), {
      args: ["check", "my_suite.ts"],
      cwd: folder,
      stdout: "null",
      stderr: "piped",
    }).output();
    assertStrictEquals(code, 0, new TextDecoder().decode(stderr));
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
});
