import { deepStrictEqual, match, ok, strictEqual } from "node:assert/strict";
import { fileURLToPath } from "node:url";
import { cxxTest, hipFolder } from "../../backends/testdata/hip_mocks.ts";

interface Checked {
  readonly kernel: string;
  readonly m: number;
  readonly n: number;
  readonly k: number;
  readonly status: string;
  readonly note: string;
  readonly deterministic: boolean;
}

const MAIN = fileURLToPath(new URL("../../cli/main.ts", import.meta.url));

cxxTest(
  "check --backend hip passes for the split-K kernels of the decode suites on the emulator",
  async () => {
    const folder = await Deno.makeTempDir();
    try {
      const { code, stdout, stderr } = await new Deno.Command(Deno.execPath(), {
        args: [
          ...["run", "-A", "-q", MAIN, "check", "--backend", "hip", "--json"],
          ...["--suite", "decode-bf16-k7168"],
          ...["--kernel", "splitk-lds,splitk-lds-atomic"],
          // The odd point that these kernels take, and the smallest of the suite.
          ...["--m", "4,17", "--n", "64,256", "--k", "256,7168"],
          // Not the usual one: these binaries are for the emulator.
          ...["--kernel-cache", `${folder}/kernels`],
        ],
        cwd: folder,
        env: { LD_LIBRARY_PATH: hipFolder() },
      }).output();
      const text = (bytes: Uint8Array) => new TextDecoder().decode(bytes);
      strictEqual(code, 0, text(stderr));
      const rows = text(stdout).trim().split("\n")
        .map((line): Checked => JSON.parse(line));
      const of = (kernel: string) =>
        rows.filter((row) => row.kernel === kernel);
      deepStrictEqual(
        ["splitk-lds", "splitk-lds-atomic"].map((name) => of(name).length),
        [8, 8],
      );
      deepStrictEqual([...new Set(rows.map(({ status }) => status))], [
        "checked",
      ]);
      ok(of("splitk-lds").every((row) => row.deterministic && !row.note));
      const atomic = of("splitk-lds-atomic");
      for (const { note } of atomic) match(note, /^right to within [\d.]+ \+ /);
      // 16-bit sums of seven splits depend on who comes first.
      ok(atomic.some((row) => row.k === 7168 && !row.deterministic));
    } finally {
      await Deno.remove(folder, { recursive: true });
    }
  },
);
