import { assertEquals, assertMatch } from "@std/assert";
import { within } from "../../bench/testdata/temporary.ts";
import { lacking } from "../../cli/testdata/program.ts";
import { DEFAULTS, select, sweep } from "mnkbench/session";

/** A product of which rows of A are `stride` apart. */
const source = (stride: string) => `
void mine(const float *A, const float *B, float *C, int M, int N, int K) {
  for (int i = 0; i < M * N; i++) {
    float sum = 0;
    for (int k = 0; k < K; k++) sum += A[i / N * ${stride} + k] * B[k * N + i % N];
    C[i] = sum;
  }
}
`;

/** The rows of two repeats of a kernel file in `folder`, and the lines that were printed. */
async function swept(
  folder: string,
  stride: string,
  overrides: Readonly<Record<string, readonly number[]>> = {},
) {
  const path = `${folder}/mine.c`;
  await Deno.writeTextFile(path, source(stride));
  const selected = await select({
    suites: [path],
    kernels: ["mine"],
    quick: true,
    overrides,
    where: {},
    backend: "cpu",
    device: 0,
  });
  const lines: string[] = [];
  const { rows } = await sweep(selected, {
    ...DEFAULTS,
    warmup: 0.1,
    rep: 0.5,
    cacheDir: `${folder}/kernels`,
  }, {
    fresh: true,
    resume: false,
    runs: 2,
    timeout: 60,
    unfinished: `${folder}/runs`,
    out: `${folder}/out`,
    signal: new AbortController().signal,
    observer: {
      note() {},
      row() {},
      progress: () => ({
        update() {},
        print: (line) => void lines.push(line),
        [Symbol.dispose]() {},
      }),
    },
  });
  return {
    rows: rows.map(({ key: { m, n, k }, status, note }) =>
      `${m}×${n}×${k} ${status} ${note}`
    ),
    failures: lines.filter((line) => line.startsWith("FAIL")),
  };
}

Deno.test({
  name:
    `sweep() fails a kernel file that is right at square shapes only${lacking()}`,
  ignore: lacking() !== "",
  fn: () =>
    within(async (folder) => {
      const { rows, failures } = await swept(folder, "M");
      assertEquals(rows.length, 1);
      assertMatch(
        rows[0]!,
        /^64×64×64 wrong at 64×128×192, where M, N and K differ: C: \d+ of 8192 /,
      );
      assertEquals(failures.length, 1);
      assertMatch(failures[0]!, /^FAIL .*mine 64×128×192 /);

      const right = await swept(folder, "K");
      assertMatch(right.rows.join(), /^64×64×64 ok /);
      assertEquals(right.failures, []);
      // Sizes that were chosen are all that was asked about.
      const chosen = await swept(folder, "M", { m: [16] });
      assertMatch(chosen.rows.join(), /^16×16×16 ok /);
    }),
});
