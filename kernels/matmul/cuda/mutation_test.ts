import { cudaTest } from "../../../backends/testdata/cuda_mocks.ts";
import { mutantTests } from "../../testdata/mutants.ts";
import { clusterCases } from "../testdata/cuda_cluster_mutants.ts";
import { splitCases } from "../testdata/cuda_mutants.ts";

mutantTests(cudaTest, { ...splitCases, ...clusterCases }, "quick");
