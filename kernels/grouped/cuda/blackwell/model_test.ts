import { assertStrictEquals } from "@std/assert";
import { otherMutants as blackwellMutants } from "../../testdata/cuda_mutants.ts";
import { hasRightBits, modelTest } from "./testdata/model.ts";

modelTest(
  "blackwell.cu has the right bits on the model of tcgen05",
  async () => {
    assertStrictEquals(await hasRightBits(), true);
  },
);

for (const mutant of blackwellMutants.slice(0, 1)) {
  modelTest(`blackwell.cu does not pass as ${mutant}`, async () => {
    assertStrictEquals(await hasRightBits(mutant), false);
  });
}
