import { assertStrictEquals } from "@std/assert";
import { fileURLToPath } from "node:url";
import { ccTest } from "../../backends/testdata/mocks.ts";

const HEADER = fileURLToPath(new URL("./mutant.h", import.meta.url));
const SOURCE = `#include "${HEADER}"
MUTANT(on) MUTANT(off) 3 - MUTANT(on)
#if MUTANT(on) && !MUTANT(off)
right
#else
wrong
#endif
`;

for (const language of ["c", "c++"]) {
  ccTest(
    `MUTANT() is 1 for a name that the build defines, else 0, in ${language}`,
    async () => {
      const child = new Deno.Command("cc", {
        args: [
          ...["-x", language, "-E", "-P", "-DMUTANT_on=1"],
          ...["-pedantic-errors", "-Wall", "-Werror", "-"],
        ],
        stdin: "piped",
        stdout: "piped",
        stderr: "piped",
      }).spawn();
      const [, { stdout, stderr }] = await Promise.all([
        new Blob([SOURCE]).stream().pipeTo(child.stdin),
        child.output(),
      ]);
      const text = (bytes: Uint8Array) => new TextDecoder().decode(bytes);
      assertStrictEquals(text(stderr), "");
      assertStrictEquals(text(stdout).trim(), "1 0 3 - 1\nright");
    },
  );
}
