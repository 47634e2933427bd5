import { assert, assertEquals } from "@std/assert";
import * as mnkbench from "mnkbench";
import { spreadIndices } from "../bench/measure/spread.ts";
import { storedBytes } from "../bench/model/problem.ts";
import { builtInSuites } from "../suites/mod.ts";
import { ops, type RegisteredOp } from "./mod.ts";
import { INPUTS } from "./testdata/answers.ts";
import {
  EMULATED,
  isLibrary,
  mutantsFor,
  sites,
  title,
  valuesOf,
} from "./testdata/cases.ts";
import { h200 } from "./testdata/devices.ts";
import { listen } from "./testdata/listener.ts";

const HERE = new URL(".", import.meta.url);
/** What others read of every folder of an operation. */
const SKELETON = ["README.md", "mod.ts", "op.ts", "testdata"];

function names(folder: URL): string[] {
  return [...Deno.readDirSync(folder)].map(({ name }) => name);
}

Deno.test("ops has every folder with an op.ts, once", () => {
  const folders = names(HERE).filter((name) =>
    Deno.statSync(new URL(name, HERE)).isDirectory &&
    names(new URL(`${name}/`, HERE)).includes("op.ts")
  );
  assertEquals(
    ops.map(({ folder }) => folder).toSorted(),
    folders.toSorted(),
    "ops of kernels/mod.ts, and folders with an op.ts",
  );
  assertEquals(new Set(ops.map(({ op }) => op.name)).size, ops.length);
});

Deno.test("mnkbench exports every operation and the list of its kernels", () => {
  const exported = new Set<unknown>(Object.values(mnkbench));
  const lacks = ops.filter(({ op, kernels }) =>
    !exported.has(op) || !exported.has(kernels)
  );
  assertEquals(lacks.map(({ folder }) => folder), [], "mod.ts lacks these");
});

Deno.test("suites are of operations in the registry, with kernels of it", async () => {
  for (const { name, op, kernels } of await builtInSuites()) {
    const entry = ops.find((entry) => entry.op.name === op);
    assert(
      entry,
      `suite ${name} is of op ${op}, which kernels/mod.ts does not list`,
    );
    const unknown = kernels.filter((kernel) =>
      !entry.kernels.some((known) =>
        known.name === kernel.name && known.backend === kernel.backend
      )
    );
    assertEquals(
      unknown.map((kernel) => kernel.name),
      [],
      `suite ${name} has kernels that kernels/mod.ts does not list`,
    );
  }
});

/** The tables of a README: a title and a line `name | idea` for each kernel. */
function tablesOf({ kernels }: RegisteredOp): string[] {
  return [...Map.groupBy(kernels, ({ backend }) => backend)].flatMap((
    [backend, own],
  ) => [
    `| ${backend} | idea |`,
    ...own.map(({ name, idea }) => `| \`${name}\` | ${idea} |`),
  ]);
}

for (const entry of ops) {
  const folder = new URL(`${entry.folder}/`, HERE);

  Deno.test(`${entry.folder}/ has the skeleton of an operation`, () => {
    const found = names(folder);
    const missing = SKELETON.filter((name) => !found.includes(name));
    assertEquals(missing, [], `kernels/${entry.folder}/ lacks these`);
    const tests = names(new URL("testdata/", folder));
    assert(
      tests.includes("cases.ts"),
      `kernels/${entry.folder}/testdata/cases.ts is missing`,
    );
  });

  Deno.test(`${entry.folder}/README.md has every kernel with its idea, and 300 words at most`, () => {
    const lines = Deno.readTextFileSync(new URL("README.md", folder))
      .split("\n");
    const [table, text] = [true, false].map((is) =>
      lines.filter((line) => line.startsWith("|") === is)
    ) as [string[], string[]];
    assertEquals(
      table.filter((line) => !/^\| -+/.test(line))
        .map((line) => line.replaceAll(/ +/g, " ")),
      tablesOf(entry),
      `a line for each kernel in kernels/${entry.folder}/README.md, with its idea and in the order of the list`,
    );
    const words = text.join(" ").split(/\s+/).filter(Boolean).length;
    assert(words <= 300, `${words} words`);
  });

  Deno.test(`${entry.op.name}.inputs() have the bytes of their operands`, () => {
    const { op } = entry;
    for (const point of op.edgeCases) {
      const operands = op.operands(point).filter(({ role }) => role === "in");
      assertEquals(
        op.inputs(point, INPUTS).map(({ length }) => length),
        operands.map((operand) => storedBytes(operand)),
        title(op, point),
      );
    }
  });

  Deno.test(`${entry.op.name}.reference() is the same whole and by elements`, () => {
    const { op } = entry;
    for (const point of op.edgeCases) {
      const right = op.reference(point, op.inputs(point, INPUTS));
      const outputs = op.operands(point).filter(({ role }) => role === "out");
      for (const output of outputs.keys()) {
        const all = right.all(output);
        const indices = spreadIndices(all.length, 20);
        right.at(output, indices).forEach((x, i) => {
          const want = all[indices[i]!]!;
          assert(
            Math.abs(x - want) <= 1e-12 * (1 + Math.abs(want)),
            `${title(op, point)}: ${x} at ${indices[i]} is not ${want}`,
          );
        });
      }
    }
  });

  Deno.test(`${entry.op.name} reads each edge-case shape again from its axes`, () => {
    const { op } = entry;
    for (const point of op.edgeCases) {
      assertEquals(op.point(valuesOf(op, point)), point);
    }
  });
}

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
      kernel.backend !== "cpu" && !isLibrary(kernel)
    ).map(({ backend, name }) => `${backend} ${name}`);
    const folder = `kernels/${entry.folder}/testdata`;
    assertSame(tried, new Set(wanted), {
      missing: `in no mutantCases of ${folder}/<backend>_mutants.ts`,
      extra:
        `in mutantCases of ${folder}/, and no kernel that the emulator runs`,
    });
  });
}

/** Checks at the edge-case points of an operation. @returns How many launches start early. */
function startsEarlyOf<P>({ op, kernels }: RegisteredOp<P>): number {
  let early = 0;
  for (const kernel of kernels) {
    if (kernel.backend !== "cuda" || isLibrary(kernel)) continue;
    for (const point of op.edgeCases) {
      if (kernel.unsupported(point, h200) !== undefined) continue;
      const legal = [...kernel.candidates(point, h200)]
        .find(({ illegal }) => illegal === undefined);
      if (legal === undefined) continue;
      const values = valuesOf(op, point);
      const { queue } = listen(op, kernel, { values, config: legal.config });
      const { args, shape } = queue[0]!;
      const { waits = false, cooperative = false } = shape ?? {};
      const said = kernel.startsEarly?.(point) ?? false;
      assertEquals(said, waits, `${kernel.name} at ${title(op, point)}`);
      // A kernel has EARLY as its last argument if it starts early, or if others of its source do.
      const told = args.findIndex(({ kind }) => kind === "early");
      assert(told < 0 || told === args.length - 1, kernel.name);
      assert(told < 0 || said || cooperative, kernel.name);
      early += Number(said);
    }
  }
  return early;
}

Deno.test("startsEarly() is true of kernels whose first launch waits, and of no other", () => {
  const counts = ops.map((one) => startsEarlyOf(one as RegisteredOp<unknown>));
  assert(counts.filter((count) => count > 0).length >= 4, `${counts}`);
});
