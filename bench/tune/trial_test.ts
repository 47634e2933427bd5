import { assertEquals, assertMatch, assertRejects } from "@std/assert";
import type { FakeKernel } from "../../backends/fake/fake.ts";
import { multiply, suiteOf, withRig } from "../../backends/testdata/spine.ts";
import { proven } from "./trial.ts";

/** Whether a kernel that is right `times` times is admitted. */
function admitted(times: number): Promise<unknown> {
  let calls = 0;
  const tiled: FakeKernel = {
    ns: 5000,
    run(args) {
      if (calls++ < times) multiply(args);
    },
  };
  const [c] = [...suiteOf(["tiled"], { TILE: [8] }).cases("all")];
  return withRig(
    { kernels: { tiled } },
    (context) => proven(c!, { config: { TILE: 8 }, context, uses: 20 }),
  );
}

Deno.test("proven() is wrong for a config that stops working after a while", async () => {
  assertMatch(
    (await assertRejects(() => admitted(15), Error)).message,
    /C: 16 of 16 elements are NaN: left unwritten/,
  );
  assertMatch(
    (await assertRejects(() => admitted(0), Error)).message,
    /left unwritten/,
  );
});

Deno.test("proven() says how right a config is that goes on", async () => {
  const accuracy = await admitted(Infinity);
  assertEquals((accuracy as { mismatches: number }).mismatches, 0);
});
