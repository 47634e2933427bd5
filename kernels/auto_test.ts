import { assert, assertEquals } from "@std/assert";
import { buildText } from "../bench/device/device.ts";
import { formatValues } from "../bench/model/grid.ts";
import type { Case } from "../bench/model/suite.ts";
import { chosenBy } from "../bench/tune/auto.ts";
import { isAuto } from "../bench/tune/auto_kernel.ts";
import { archInfo } from "../cli/commands/build/kernels.ts";
import { distinctBuilds } from "../session/build_ahead.ts";
import { rowsOn } from "../session/hints.ts";
import { withAuto } from "./auto.ts";
import { ops } from "./mod.ts";
import { randomSuite } from "./testdata/auto.ts";
import { isLibrary } from "./testdata/cases.ts";

const { info } = archInfo("sm_90a");

/** The texts of the legal configs of `c`. */
function legal(c: Case): readonly string[] {
  if (c.unsupported(info) !== undefined) return [];
  return [...c.candidates(info)].filter(({ illegal }) => illegal === undefined)
    .map(({ config }) => formatValues(config));
}

for (const { folder, kernels } of ops) {
  Deno.test(`auto chooses a legal config of ${folder} at random points, if a kernel has one`, () => {
    const suite = randomSuite(folder, { count: 40, seed: 2 });
    const cases = [...withAuto(suite, ["auto"], rowsOn).cases("all")];
    const points = [...Map.groupBy(cases, ({ problem }) => problem).values()];
    const libraries = kernels.filter(({ library }) => library)
      .map(({ name }) => name);
    let chosen = 0;
    for (const all of points) {
      const auto = all.find(({ kernel }) => isAuto(kernel))!;
      const others = all.filter(({ kernel }) =>
        !isAuto(kernel) && !libraries.includes(kernel)
      );
      const why = auto.unsupported(info);
      if (why !== undefined) {
        assertEquals([why, others.flatMap(legal)], [why, []]);
        continue;
      }
      const [first, ...more] = auto.candidates(info);
      const { kernel, config } = chosenBy(first!.config)!;
      const own = others.find((other) => other.kernel === kernel)!;
      assert(legal(own).includes(formatValues(config)), auto.problem.title);
      assertEquals(more, []);
      chosen++;
    }
    assert(chosen > points.length / 4, `${chosen} of ${points.length}`);
  });
}

Deno.test("withAuto() keeps a user's kernel of that name, and adds others on each backend", () => {
  const suite = randomSuite("swiglu", { count: 1, seed: 1 });
  const named = { ...suite, kernels: [{ ...suite.kernels[0]!, name: "auto" }] };
  const added = (from: typeof suite) =>
    withAuto(from, ["auto", "auto-library"], rowsOn).kernels
      .filter(({ name }) => isAuto(name)).map(({ name }) => name);
  assertEquals(added(suite), ["auto", "auto-library"]);
  assertEquals(added(named), ["auto-library"]);
});

Deno.test("the builds of auto are those of the kernels that it chooses", () => {
  const suite = randomSuite("matmul", { count: 20, seed: 3 });
  const all = [...withAuto(suite, ["auto"], rowsOn).cases("all")];
  const autos = all.filter(({ kernel, unsupported }) =>
    isAuto(kernel) && unsupported(info) === undefined
  );
  const chosen = autos.flatMap((auto) => {
    const { kernel, config } = chosenBy([...auto.candidates(info)][0]!.config)!;
    const own = all.find((one) =>
      one.kernel === kernel && one.problem === auto.problem
    )!;
    return own.builds(config).map(buildText);
  });
  assertEquals(
    new Set(distinctBuilds(autos, info).map(buildText)),
    new Set(chosen),
  );
});

Deno.test("kernels that call a vendor's library say so", () => {
  const silent = ops.flatMap(({ kernels }) =>
    kernels as readonly { name: string; library?: boolean }[]
  )
    .filter((kernel) => isLibrary(kernel as never) && !kernel.library);
  assertEquals(silent.map(({ name }) => name), []);
});
