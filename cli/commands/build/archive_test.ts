import { assert, assertEquals, assertMatch } from "@std/assert";
import { join } from "node:path";
import { gather, MOST_BYTES } from "./archive.ts";

Deno.test("gather() makes a folder that runs with no network and nothing cached", async () => {
  const cwd = await Deno.makeTempDir();
  try {
    const folder = join(cwd, "packed");
    const kernelCache = join(cwd, "kernels");
    for (
      const [name, arch] of [["a.1", "sm_90a"], ["b.2", "sm_90a"], ["c.3", ""]]
    ) {
      await Deno.mkdir(join(kernelCache, name!), { recursive: true });
      await Deno.writeTextFile(
        join(kernelCache, name!, "manifest.json"),
        JSON.stringify({ arch }),
      );
    }
    const entries = ["a.1", "c.3"];
    await gather(folder, { arch: ["sm_90a"], kernelCache, entries });
    // Those that are named, of the architecture.
    assertEquals(
      [...Deno.readDirSync(join(folder, ".cache"))].map(({ name }) => name),
      ["a.1"],
    );
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
    assertEquals(list.code, 0, list.stderr);
    assertMatch(list.stdout, /^epilogue-bf16: .*\(28 shapes\)$/m);
    const bench = await run(
      ...["bench", "--backend", "cpu", "--kernel", "naive", "--rep", "1"],
      ...["--suite", "matmul-fp32", "--m", "2", "--k", "8"],
    );
    assertEquals(bench.code, 0, bench.stderr);
    assertMatch(bench.stdout, /^2×2×8 /m);
    const plot = await run("plot");
    assertEquals(plot.code, 2, plot.stderr);
    assertMatch(
      plot.stderr,
      /^error: Cannot load what pictures are drawn with: .*; copy the CSVs to a checkout/,
    );
  } finally {
    await Deno.remove(cwd, { recursive: true });
  }
});

/** What a channel takes of the tree and the archive at once. */
const CHANNEL_BYTES = 60 * 2 ** 20;
/** Pictures are limited on their own. */
const PICTURE_BYTES = 3e6;

Deno.test("an archive and the tree together fit into a channel of 60 MiB", async () => {
  const cwd = new URL("../../../", import.meta.url);
  const { success, stdout } = await new Deno.Command("git", {
    args: ["ls-files", "-z", ":!plots", ":!*.png", ":!*.svg"],
    cwd,
    stderr: "null",
  }).output();
  assert(success, "this is no checkout");
  const files = new TextDecoder().decode(stdout).split("\0").filter(Boolean);
  const sizes = files.map((file) => {
    try {
      return Deno.lstatSync(new URL(file, cwd)).size;
    } catch (error) {
      // It is deleted and not committed yet.
      if (error instanceof Deno.errors.NotFound) return 0;
      throw error;
    }
  });
  const tree = sizes.reduce((sum, size) => sum + size, PICTURE_BYTES);
  assert(
    tree + MOST_BYTES <= CHANNEL_BYTES,
    `the tree has ${(tree / 2 ** 20).toFixed(1)} MiB`,
  );
});
