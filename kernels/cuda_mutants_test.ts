import { mutantTests } from "./testdata/mutants.ts";

await mutantTests("cuda", "quick");
