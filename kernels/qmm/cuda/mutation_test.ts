import { cudaTest } from "../../../backends/testdata/cuda_mocks.ts";
import { mutantTests } from "../../testdata/mutants.ts";
import { cudaCases } from "../testdata/cuda_mutants.ts";

mutantTests(cudaTest, cudaCases, "quick");
