import { buildTest, cheatTests } from "./testdata/cheats/tests.ts";

buildTest();
cheatTests("full");
