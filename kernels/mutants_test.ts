/** Each mutant in a source is in a list of the tests, and each of the lists in a source. */

import { assert, assertEquals } from "@std/assert";
import { ops } from "./mod.ts";
import { casesOf, EMULATED, isLibrary, mutantsFor } from "./testdata/cases.ts";
import { sites } from "./testdata/mutant_sites.ts";

Deno.test("sites() have a name of their own each", () => {
  const all = sites();
  assert(all.length > 250, `${all.length}`);
  assertEquals(all.filter((name, i) => all.indexOf(name) !== i), []);
});

Deno.test("sites() are those that the lists of mutants name", async () => {
  const listed = new Set<string>();
  for (const { folder } of ops) {
    for (const backend of EMULATED) {
      const { mutantCases, otherMutants = [] } = await mutantsFor(
        folder,
        backend,
      );
      for (const { mutants } of Object.values(mutantCases)) {
        for (const mutant of mutants) listed.add(mutant);
      }
      for (const mutant of otherMutants) listed.add(mutant);
    }
  }
  assertEquals([...listed].toSorted(), sites().toSorted());
});

for (const entry of ops) {
  Deno.test(`kernels of ${entry.op.name} for GPUs have a mutant each`, async () => {
    const { neverRun = [] } = await casesOf(entry);
    const tried = new Set<string>();
    for (const backend of EMULATED) {
      const { mutantCases } = await mutantsFor(entry.folder, backend);
      for (const { kernel, mutants } of Object.values(mutantCases)) {
        assert(mutants.length > 0, kernel.name);
        assertEquals(kernel.backend, backend, kernel.name);
        tried.add(`${backend} ${kernel.name}`);
      }
    }
    const wanted = entry.kernels.filter((kernel) =>
      kernel.backend !== "cpu" && !isLibrary(kernel) &&
      !neverRun.includes(kernel.name)
    ).map(({ backend, name }) => `${backend} ${name}`);
    assertEquals([...tried].toSorted(), wanted.toSorted());
  });
}
