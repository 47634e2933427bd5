import {
  assert,
  assertEquals,
  assertMatch,
  assertStrictEquals,
} from "@std/assert";
import { program, type Ran } from "../../testdata/program.ts";

function run(...args: string[]): Promise<Ran> {
  return program(args, {
    permissions: ["--allow-read", "--allow-write", "--allow-env"],
  });
}

/** A text that is gone after the test. */
function text(content: string): { path: string } & Disposable {
  const path = Deno.makeTempFileSync({ suffix: ".md" });
  Deno.writeTextFileSync(path, content);
  return { path, [Symbol.dispose]: () => Deno.removeSync(path) };
}

const COMMAND =
  "table results/published/decompose-k-v3 --suite matmul-fp32 --kernel decomposeK,torch.mm --wins";
const BEFORE = `# Results

<!-- mnkbench:begin ${COMMAND} -->
<!-- mnkbench:end -->

The end
`;

Deno.test("report --splice fills a text once, and --check finds it stale", async () => {
  using file = text(BEFORE);
  const check = () => run("report", "--splice", file.path, "--check");
  const stale = await check();
  assertEquals([stale.code, stale.stdout], [1, ""]);
  assertMatch(stale.stderr, /line 3 is stale: table results/);
  assertStrictEquals(Deno.readTextFileSync(file.path), BEFORE);

  const filled = await run("report", "--splice", file.path);
  assertEquals([filled.code, filled.stdout], [0, ""]);
  assertMatch(filled.stderr, /: 1 tables, 1 of them changed$/m);
  assertStrictEquals(
    Deno.readTextFileSync(file.path),
    `# Results

<!-- mnkbench:begin ${COMMAND} -->
<!-- deno-fmt-ignore-start -->

**matmul-fp32 on NVIDIA H100: how many times as fast as torch.mm**

| kernel | wins/ties/losses | min | median | max | geomean |
| --- | ---: | ---: | ---: | ---: | ---: |
| decomposeK | 28/0/0 | 1.275 | 1.471 | 1.879 | 1.485 |

Made by \`npx -y deno@2.9.6 task ${COMMAND}\`.

<!-- deno-fmt-ignore-end -->
<!-- mnkbench:end -->

The end
`,
  );
  assertEquals((await check()).code, 0);
  const again = await run("report", "--splice", file.path);
  assertMatch(again.stderr, /: 1 tables, 0 of them changed$/m);
});

Deno.test("report --splice leaves a text that the formatter accepts", async () => {
  using file = text(BEFORE);
  assertStrictEquals((await run("report", "--splice", file.path)).code, 0);
  const { success, stderr } = await new Deno.Command(Deno.execPath(), {
    args: ["fmt", "--check", file.path],
    stdout: "null",
    stderr: "piped",
  }).output();
  assert(success, new TextDecoder().decode(stderr));
});

/** Commands between markers, and how each is refused. */
const REFUSED: readonly (readonly [string, RegExp])[] = [
  ["plot results", /line 3 asks for plot, and only table can be spliced/],
  ["table --format csv", /line 3 chooses a format/],
  ["table --nope", /line 3: .*--nope/],
  ["table nowhere", /line 3: Cannot read nowhere/],
  ["table results/published/decompose-k-v3 --kernel x", /line 3: No kernel/],
];

for (const [command, why] of REFUSED) {
  Deno.test(`report --splice refuses ${command}, naming the line`, async () => {
    using file = text(BEFORE.replace(COMMAND, command));
    const { code, stderr } = await run("report", "--splice", file.path);
    assertStrictEquals(code, 2);
    assertMatch(stderr, /^error: Cannot splice .*\.md: [^\n]*\n$/);
    assertMatch(stderr, why);
    assertStrictEquals(
      Deno.readTextFileSync(file.path),
      BEFORE.replace(COMMAND, command),
    );
  });
}
