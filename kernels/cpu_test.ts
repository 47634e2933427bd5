import { assert, assertEquals } from "@std/assert";
import { BYTES, decode } from "../bench/model/dtype.ts";
import { CaseError } from "../bench/model/errors.ts";
import { isLibrary, opsWithCases, title } from "./testdata/cases.ts";
import { INPUTS, madeOf, unrounded } from "./testdata/answers.ts";
import { Bench, hasCompiler, info, skip } from "./testdata/cpu.ts";

/** Points with more work take seconds on a CPU. */
const MOST_FLOPS = 4e7;

for (const { entry, cases } of await opsWithCases()) {
  const { op, kernels } = entry;
  const { larger = [], fill = INPUTS.fill } = cases;
  const options = { ...INPUTS, fill };
  const points = [...op.edgeCases, ...larger].filter((point) =>
    op.work(point).flops < MOST_FLOPS
  );

  for (const kernel of kernels.filter(({ backend }) => backend === "cpu")) {
    Deno.test(
      `${op.name} ${kernel.name} is right at edge-case shapes on the CPU${skip}`,
      { ignore: !hasCompiler && kernel.name !== "naive" },
      async () => {
        let ran = 0;
        for (const point of points) {
          if (kernel.unsupported(point, info)) continue;
          using bench = new Bench(op);
          for (const { config, illegal } of kernel.candidates(point, info)) {
            if (illegal) continue;
            try {
              await bench.assertRight(kernel, { point, config, options });
              ran++;
            } catch (error) {
              const absent = error instanceof CaseError &&
                error.failure === "unsupported" && isLibrary(kernel);
              if (!absent) throw error;
            }
          }
        }
        using bench = new Bench(op);
        assert(ran > 0 || isLibrary(kernel) && !bench.device.blas, "none ran");
      },
    );
  }

  const reference = op.referenceKernels?.find(({ backend }) =>
    backend === "cpu"
  );
  Deno.test(
    `the CPU reference of ${op.name} agrees with the host to 1e-12${skip}`,
    { ignore: !hasCompiler || !reference },
    async () => {
      const exact = unrounded(op);
      for (const point of points) {
        if (reference!.unsupported(point, info)) continue;
        using bench = new Bench(exact);
        const outputs = await bench.run(reference!, { point, options });
        const { right } = madeOf(op, point, options);
        outputs.forEach((bytes, output) => {
          assertEquals(bytes.length, right[output]!.length * BYTES.f64);
          decode(bytes, "f64").forEach((x, i) => {
            const want = right[output]![i]!;
            assert(
              Math.abs(x - want) <= 1e-12 * (1 + Math.abs(want)),
              `${title(op, point)}: ${x} at ${i} is not ${want}`,
            );
          });
        });
      }
    },
  );
}
