import { match, strictEqual } from "node:assert/strict";
import { join } from "node:path";
import { gather } from "./archive.ts";

Deno.test("gather() makes a folder that runs with no network and nothing cached", async () => {
  const cwd = await Deno.makeTempDir();
  try {
    const folder = join(cwd, "packed");
    await gather(folder, { arch: [], kernelCache: undefined });
    const run = async (...args: string[]) => {
      const { code, stdout, stderr } = await new Deno.Command(
        join(folder, "mnkbench"),
        {
          args,
          cwd,
          clearEnv: true,
          env: {
            PATH: "/usr/bin:/bin",
            HOME: join(cwd, "home"),
            // Nothing listens there: whoever asks a registry fails.
            NPM_CONFIG_REGISTRY: "http://127.0.0.1:9",
          },
        },
      ).output();
      const text = (bytes: Uint8Array) => new TextDecoder().decode(bytes);
      return { code, stdout: text(stdout), stderr: text(stderr) };
    };
    const list = await run("list");
    strictEqual(list.code, 0, list.stderr);
    match(list.stdout, /^epilogue-bf16: .*\(28 shapes\)$/m);
    const bench = await run(
      ...["bench", "--backend", "cpu", "--kernel", "naive", "--rep", "1"],
      ...["--suite", "matmul-fp32", "--m", "2", "--k", "8"],
    );
    strictEqual(bench.code, 0, bench.stderr);
    match(bench.stdout, /^2×2×8 /m);
    const plot = await run("plot");
    strictEqual(plot.code, 2, plot.stderr);
    match(plot.stderr, /^error: .*chart\.js.*; copy the CSVs to a checkout/);
  } finally {
    await Deno.remove(cwd, { recursive: true });
  }
});
