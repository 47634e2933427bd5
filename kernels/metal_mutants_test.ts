import { mutantTests } from "./testdata/mutants.ts";

await mutantTests("metal", "quick");
