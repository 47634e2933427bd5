import { assertEquals, assertMatch } from "@std/assert";
import { cpu } from "../../../backends/cpu/cpu.ts";
import { CaseError } from "../../../bench/model/errors.ts";
import { archInfo, unitsOf } from "./kernels.ts";
import { loadSuites } from "../../../session/cases.ts";
import { program, testdata } from "../../testdata/program.ts";

const { arch } = Deno.build;

/** Why nothing can be compiled here; empty where it can. */
function lacking(): string {
  try {
    cpu.compiler(arch);
    return "";
  } catch (error) {
    if (!(error instanceof CaseError)) throw error;
    return " (ignored: there is no C compiler)";
  }
}

Deno.test("unitsOf() names each unit of a sweep once, the instruments first", async () => {
  const [suite] = await loadSuites([testdata("uncompilable_suite.ts")]);
  const cases = [...suite!.cases("all"), ...suite!.cases("all")];
  const units = unitsOf(cases, { backend: cpu, info: archInfo(arch).info });
  assertEquals(
    units.map(({ source }) => source.pathname.split("/").at(-1)),
    ["instruments.c", "uncompilable.c", "reference.c"],
  );
});

Deno.test("archInfo() knows which architectures copy by tensor maps", () => {
  const archs = ["sm_80", "sm_89", "sm_90a", "sm_103a", "sm_120", "gfx942"];
  assertEquals(
    archs.map((arch) => archInfo(arch).info.tensorMaps),
    [false, false, true, true, true, false],
  );
});

Deno.test({
  name:
    `build compiles into the folder, says what fails, and ends with 1${lacking()}`,
  ignore: lacking() !== "",
  async fn() {
    const cwd = await Deno.makeTempDir();
    try {
      const args = ["build", "--arch", arch, "--kernel-cache", "kernels"];
      const suite = ["--suite", testdata("uncompilable_suite.ts")];
      const { code, stdout, stderr } = await program([...args, ...suite], {
        cwd,
      });
      assertEquals(code, 1, stderr);
      assertEquals(stdout, `${arch}: 2 built, 1 failed\n`);
      assertMatch(stderr, /^FAIL uncompilable\.c: .*error/m);
      const built = [...Deno.readDirSync(`${cwd}/kernels`)]
        .filter(({ isDirectory }) => isDirectory);
      assertEquals(built.length, 2);
    } finally {
      await Deno.remove(cwd, { recursive: true });
    }
  },
});
