import {
  assertEquals,
  assertMatch,
  assertStrictEquals,
  assertThrows,
} from "@std/assert";
import { termsOf } from "../bench/measure/precision.ts";
import { UserError } from "../bench/model/errors.ts";
import { unlessMissing } from "../bench/files/disk.ts";
import { problemOf } from "../bench/model/suite.ts";
import { groupedMatmul } from "../kernels/grouped/mod.ts";
import { matmul } from "../kernels/matmul/mod.ts";
import { isLarge, PeerInputs } from "./inputs.ts";

Deno.test("PeerInputs.open() removes what a dead process left, and its own at the end", () => {
  const root = Deno.makeTempDirSync();
  const names = () => [...Deno.readDirSync(root)].map(({ name }) => name);
  try {
    Deno.mkdirSync(`${root}/scratch-1`);
    Deno.mkdirSync(`${root}/choices`);
    {
      using inputs = PeerInputs.open(root, { seed: 0, fill: "normal" });
      const own = inputs.folder.slice(root.length + 1);
      assertEquals(names().toSorted(), ["choices", own]);
      assertMatch(own, /^scratch-/);
    }
    assertEquals(names(), ["choices"]);
  } finally {
    Deno.removeSync(root, { recursive: true });
  }
});

// With the permissions that a worker has, none of which is for other processes.
const ANOTHER = `
import { PeerInputs } from ${
  JSON.stringify(new URL("./inputs.ts", import.meta.url).href)
};
using inputs = PeerInputs.open(Deno.args[0], { seed: 0, fill: "normal" });
console.log(inputs.folder);
await Deno.stdin.read(new Uint8Array(1));
`;

Deno.test("PeerInputs.open() leaves alone what another process uses", async () => {
  const root = Deno.makeTempDirSync();
  const script = `${root}/another.ts`;
  Deno.writeTextFileSync(script, ANOTHER);
  const start = () =>
    new Deno.Command(Deno.execPath(), {
      args: [
        "run",
        "--no-check",
        `--config=${new URL("../deno.json", import.meta.url).pathname}`,
        "--allow-read",
        "--allow-write",
        "--allow-env",
        "--allow-sys",
        script,
        `${root}/inputs`,
      ],
      stdin: "piped",
      stdout: "piped",
    }).spawn();
  const folderOf = async ({ stdout }: Deno.ChildProcess) => {
    const reader = stdout.getReader();
    const { value } = await reader.read();
    reader.releaseLock();
    return new TextDecoder().decode(value).trim();
  };
  const end = async (child: Deno.ChildProcess) => {
    await child.stdin.close();
    await child.stdout.cancel();
    assertEquals((await child.status).code, 0);
  };
  const left = (folder: string) =>
    unlessMissing(() => Deno.statSync(folder)) !== undefined;
  const first = start();
  const folder = await folderOf(first);
  const second = start();
  const other = await folderOf(second);
  try {
    assertEquals([left(folder), left(other)], [true, true]);
    // Killed, it removes nothing; the next process does.
    first.kill("SIGKILL");
    await first.status;
    await first.stdin.close();
    await first.stdout.cancel();
    assertEquals([left(folder), left(other)], [true, true]);
    const third = start();
    await folderOf(third);
    assertEquals([left(folder), left(other)], [false, true]);
    await end(third);
  } finally {
    await end(second);
    Deno.removeSync(root, { recursive: true });
  }
});

Deno.test("PeerInputs.open() says in one line that its folder cannot be made", () => {
  const root = Deno.makeTempFileSync();
  try {
    assertThrows(
      () => PeerInputs.open(`${root}/x`, { seed: 0, fill: "normal" }),
      UserError,
      "/x: Not a directory",
    );
  } finally {
    Deno.removeSync(root);
  }
});

Deno.test("PeerInputs.get() writes the harness's own inputs, once", () => {
  const point = matmul.point({ m: 4, n: 4, k: 32, type: "bf16" });
  const problem = problemOf(matmul, point);
  const root = Deno.makeTempDirSync();
  try {
    const options = { seed: 3, fill: "normal" } as const;
    using inputs = PeerInputs.open(root, options);
    const { paths, right } = inputs.get(problem);
    assertEquals(
      paths.map((path) => Deno.readFileSync(path)),
      problem.inputs(options),
    );
    const reference = problem.reference(problem.inputs(options));
    assertEquals(right().values, [reference.all(0)]);
    assertEquals(
      right().terms,
      termsOf([problem.operands[2]!], reference, problem.work.flops),
    );
    assertStrictEquals(inputs.get(problem).paths, paths);
    const [first] = inputs.take([paths[0]!, paths[0]!]);
    assertEquals(first!.length, 4 * 32 * 2);
  } finally {
    Deno.removeSync(root, { recursive: true });
  }
});

Deno.test("PeerInputs.get() has every output of a problem", () => {
  const point = groupedMatmul.point({ m: "3+0+5", n: 16, k: 32 });
  const problem = problemOf(groupedMatmul, point);
  const root = Deno.makeTempDirSync();
  try {
    using inputs = PeerInputs.open(root, { seed: 3, fill: "normal" });
    const { paths, right } = inputs.get(problem);
    assertEquals(paths.length, 8);
    assertEquals(right().values.map(({ length }) => length), [3 * 16, 5 * 16]);
  } finally {
    Deno.removeSync(root, { recursive: true });
  }
});

Deno.test("isLarge() is for products that take the host seconds", () => {
  const sized = (m: number) =>
    problemOf(matmul, matmul.point({ m, n: 4096, k: 4096, type: "f16" }));
  assertEquals(isLarge(sized(1)), false);
  assertEquals(isLarge(sized(512)), true);
});
