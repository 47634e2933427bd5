import { assertEquals, assertRejects } from "@std/assert";
import { join } from "node:path";
import { UserError } from "../../../bench/model/errors.ts";
import { SOURCE, SUITE } from "../../testdata/planted.ts";
import { argsOfSides, type Compared } from "./bench_args.ts";
import type { Checkout } from "./checkouts.ts";

/** A suite without a kernel of its own. */
const BUILT_IN = SUITE
  .replace("defineLaunch, defineSuite, matmul", "defineSuite, kernels, matmul")
  .replace(/kernels: \[.*\],\n {2}baselines/s, "kernels,\n  baselines")
  .replace('["planted"]', "[]");

/** Returns the arguments of the base and of the next side of a comparison with suites of these texts. */
async function argsFor(
  texts: { readonly base: string; readonly next: string },
  choice: Partial<Compared>,
  args: readonly string[] = ["--suite", "suite.ts"],
): Promise<readonly (readonly string[])[]> {
  const folder = await Deno.makeTempDir();
  const checkout = async (side: "base" | "next"): Promise<Checkout> => {
    const tree = join(folder, side);
    await Deno.mkdir(tree);
    await Deno.writeTextFile(join(tree, "suite.ts"), texts[side]);
    await Deno.writeTextFile(join(tree, "planted.c"), SOURCE(0));
    return {
      name: side,
      folder: tree,
      tree,
      origin: "/repository",
      hasProgram: false,
      program: [],
      kernelCache: undefined,
    };
  };
  try {
    const { base, next } = await argsOfSides(
      { base: await checkout("base"), next: await checkout("next") },
      args,
      {
        suites: ["suite.ts"],
        kernels: [],
        peers: undefined,
        sides: ["base..next"],
        ...choice,
      },
    );
    return [base, next].map((side) =>
      side.map((arg) => arg.replace(folder, ""))
    );
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

Deno.test("argsOfSides() selects the sides' own kernels, where both have some", async () => {
  const args = ["--suite", "suite.ts"];
  const own = [...args, "--kernel", "planted"];
  assertEquals(await argsFor({ base: SUITE, next: SUITE }, {}), [own, own]);
  // The side without would measure all kernels, and the other side lack them.
  assertEquals(await argsFor({ base: BUILT_IN, next: SUITE }, {}), [
    args,
    args,
  ]);
  assertEquals(
    await argsFor({ base: SUITE, next: SUITE }, { kernels: ["naive"] }),
    [args, args],
  );
});

Deno.test("argsOfSides() takes only what may differ between two commits", async () => {
  const texts = { base: SUITE, next: SUITE };
  const peers = { suites: ["matmul-fp32"], peers: "./mine.py:fn" };
  assertEquals(await argsFor(texts, peers, []), [[], []]);
  const moved = { suites: ["/repository/suite.ts"] };
  assertEquals(
    await argsFor(texts, moved, ["--suite", "/repository/suite.ts"]),
    ["base", "next"].map((side) => [
      ...["--suite", `/${side}/suite.ts`, "--kernel", "planted"],
    ]),
  );
  for (const suites of [["matmul-fp32"], ["/elsewhere/suite.ts"]]) {
    await assertRejects(
      () => argsFor(texts, { suites }),
      UserError,
      "without a suite or kernel file of this repository",
    );
  }
});
