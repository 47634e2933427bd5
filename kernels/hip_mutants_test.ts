import { mutantTests } from "./testdata/mutants.ts";

await mutantTests("hip", "quick");
