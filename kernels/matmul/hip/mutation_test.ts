import { hipTest } from "../../../backends/testdata/hip_mocks.ts";
import { mutantTests } from "../../testdata/mutants.ts";
import { hipCases } from "../testdata/hip_mutants.ts";

mutantTests(hipTest, hipCases, "quick");
