import { metalTest } from "../../../backends/testdata/metal_mocks.ts";
import { mutantTests } from "../../testdata/mutants.ts";
import { metalCases } from "../testdata/metal_mutants.ts";

mutantTests(metalTest, metalCases, "full");
