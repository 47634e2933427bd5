import { assertStrictEquals } from "@std/assert";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

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
