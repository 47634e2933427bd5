import { cheatTests } from "./testdata/cheats/tests.ts";

cheatTests("full");
