import { assert, assertEquals, assertMatch } from "@std/assert";
import { cudaTest } from "../backends/testdata/cuda_mocks.ts";
import { cxxTest } from "../backends/testdata/mocks.ts";
import type { DeviceInfo } from "../bench/device/device.ts";
import type { Kernel } from "../bench/model/kernel_spec.ts";
import { ops } from "./mod.ts";
import { unrounded } from "./testdata/answers.ts";
import { casesOf, EMULATED, isLibrary, title } from "./testdata/cases.ts";
import { type CheckedRow, emulatedCheck } from "./testdata/check.ts";
import {
  ARCH,
  compileFor,
  compileWithoutSpills,
  distinctBuilds,
  skipped,
  smallestOfEach,
  withoutNvcc,
} from "./testdata/cuda_builds.ts";
import { h200, m3max, mi300x } from "./testdata/devices.ts";
import { emulate } from "./testdata/emulated.ts";
import { mutantTests } from "./testdata/mutants.ts";

const DEVICES = { cuda: h200, hip: mi300x, metal: m3max } as const;

/** The type, layout and format of a row or a key. */
function describe(
  { a_type, layout, params }: Pick<CheckedRow, "a_type" | "layout" | "params">,
): string {
  return `${a_type} ${layout} ${params}`;
}

/** Whether `kernel` has a legal config at a point. */
function takes<P>(kernel: Kernel<P>, point: P, info: DeviceInfo): boolean {
  return kernel.unsupported(point, info) === undefined &&
    [...kernel.candidates(point, info)].some(({ illegal }) => !illegal);
}

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
            assertMatch(note, cases.unsupported ?? /^$/, name);
          }
        }
        const seen = new Set(
          rows.filter(({ status }) => status === "checked").map(describe),
        );
        const wanted = points.filter((point) =>
          own.some((kernel) => takes(kernel, point, DEVICES[backend]))
        ).map((point) => describe(op.key(point)));
        assert(wanted.length > 0);
        assertEquals(wanted.filter((text) => !seen.has(text)), []);
      },
    );
  }
}

for (const entry of ops) {
  const kernel = entry.op.referenceKernels?.find(({ backend }) =>
    backend === "cuda"
  );
  if (!kernel) continue;
  const { references = entry.op.edgeCases, fill = "normal" } = await casesOf(
    entry,
  );
  const op = unrounded(entry.op, 1e-9);
  cudaTest(
    `the CUDA reference of ${op.name} agrees with the host`,
    async (device) => {
      for (const point of references) {
        const found = await emulate(device, {
          op,
          kernel,
          point,
          config: {},
          seeds: [1],
          fill,
        });
        assertEquals(found, "", title(entry.op, point));
      }
    },
  );
}

for (const entry of ops) {
  const { op, kernels } = entry;
  const { built = op.edgeCases, chosen = (all) => all, stack } = await casesOf(
    entry,
  );
  Deno.test({
    name:
      `builds() of ${op.name} compile for ${ARCH} without spilling or waiting for products${skipped}`,
    ignore: withoutNvcc,
    async fn() {
      const all = distinctBuilds(
        [...kernels, ...op.referenceKernels ?? []],
        built,
      );
      await compileWithoutSpills(chosen(all), stack);
    },
  });
}

for (const backend of EMULATED) await mutantTests(backend, "full");

/** The oldest architecture that a kernel is for. */
const OLDEST = "sm_80";
const old: DeviceInfo = { ...h200, arch: OLDEST };

Deno.test({
  name: `kernels that older devices take compile for ${OLDEST}${skipped}`,
  ignore: withoutNvcc,
  async fn() {
    const builds = ops.flatMap(({ op, kernels }) =>
      smallestOfEach(
        distinctBuilds(
          kernels as readonly Kernel<unknown>[],
          op.edgeCases,
          old,
        ),
      )
    );
    assert(builds.length >= 5, `${builds.length}`);
    for (const build of builds) await compileFor(build, OLDEST);
  },
});
