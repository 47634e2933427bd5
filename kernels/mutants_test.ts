/** Each mutant in a source is in a list of the tests, and each of the lists in a source. */

import { assert, assertEquals } from "@std/assert";
import { ops } from "./mod.ts";
import { casesOf, EMULATED, isLibrary, mutantsFor } from "./testdata/cases.ts";
import { sites } from "./testdata/mutant_sites.ts";

/** Asserts that two sets of names are the same; the message has only the names that differ. */
function assertSame(
  actual: ReadonlySet<string>,
  wanted: ReadonlySet<string>,
  said: { readonly missing: string; readonly extra: string },
): void {
  const missing = [...wanted.difference(actual)].toSorted();
  const extra = [...actual.difference(wanted)].toSorted();
  const lines = [
    ...(missing.length > 0 ? [`${said.missing}: ${missing.join(", ")}`] : []),
    ...(extra.length > 0 ? [`${said.extra}: ${extra.join(", ")}`] : []),
  ];
  assert(lines.length === 0, lines.join("\n"));
}

Deno.test("sites() have a name of their own each", () => {
  const all = sites();
  assert(all.length > 250, `found ${all.length} sites`);
  const twice = all.filter((name, i) => all.indexOf(name) !== i);
  assertEquals(twice, [], `used at two sites, rename one: ${twice.join()}`);
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
  assertSame(listed, new Set(sites()), {
    missing: "in a source, and in no list of mutants",
    extra: "in a list of mutants, and in no source",
  });
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
    const folder = `kernels/${entry.folder}/testdata`;
    assertSame(tried, new Set(wanted), {
      missing: `in no mutantCases of ${folder}/<backend>_mutants.ts`,
      extra:
        `in mutantCases of ${folder}/, and no kernel that the emulator runs`,
    });
  });
}
