import { EMULATED } from "./testdata/cases.ts";
import { mutantTests } from "./testdata/mutants.ts";

for (const backend of EMULATED) await mutantTests(backend, "quick");
