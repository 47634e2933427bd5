import { assert, assertEquals, assertMatch } from "@std/assert";
import { cxxTest } from "../backends/testdata/cxx.ts";
import { ops } from "./mod.ts";
import { casesOf, EMULATED, isLibrary } from "./testdata/cases.ts";
import { emulatedCheck } from "./testdata/check.ts";

for (const entry of ops) {
  const { folder, op, kernels } = entry;
  const cases = await casesOf(entry);
  for (const backend of EMULATED) {
    const own = kernels.filter((kernel) =>
      kernel.backend === backend && !isLibrary(kernel)
    );
    if (own.length === 0) continue;
    cxxTest(
      `check --backend ${backend} passes at ${op.name}'s edge-case shapes on the emulator`,
      async () => {
        const rows = await emulatedCheck({ folder, backend });
        const points = cases.checked?.[backend] ?? op.edgeCases;
        for (const { name } of own) {
          const mine = rows.filter(({ kernel }) => kernel === name);
          assert(mine.length >= points.length, name);
          const checked = mine.filter(({ status }) => status === "checked");
          assertEquals(
            checked.length === 0,
            cases.neverRun?.includes(name) ?? false,
            name,
          );
          // What it takes of a type, it takes of another but where it says no.
          for (const { note } of mine.filter((row) => !checked.includes(row))) {
            assertMatch(note, cases.unsupported, name);
          }
        }
        const seen = (of: "a_type" | "layout" | "params") =>
          new Set(
            rows.filter(({ status }) => status === "checked")
              .map((row) => row[of]),
          );
        for (const  of of["a_type", "layout", "params"] as const) {
          const wanted = points.map((point) => op.key(point)[of]);
          assertEquals(
            [...seen(of)].toSorted(),
            [...new Set(wanted)].toSorted(),
          );
        }
      },
    );
  }
}
