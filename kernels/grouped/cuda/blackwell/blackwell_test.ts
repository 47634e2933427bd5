import {
  assert,
  assertEquals,
  assertMatch,
  assertStrictEquals,
} from "@std/assert";
import { b200 } from "../../../testdata/devices.ts";
import { listen } from "../../../testdata/listener.ts";
import type { DeviceInfo } from "../../../../bench/device/device.ts";
import type { Values } from "../../../../bench/model/grid.ts";
import { groupedMatmul } from "../../op.ts";
import { realProblems } from "../../point.ts";
import { benchPoints as lists } from "../../testdata/cases.ts";
import {
  blackwell,
  type BlackwellConfig,
  itemsOf,
  itemTable,
  sharedBytes,
} from "./blackwell.ts";
import { plainBlackwell } from "../../testdata/cuda_mutants.ts";

const PLAIN = plainBlackwell({ MAXN: 128, TMA: 0 });

Deno.test("blackwell.unsupported() takes sm_100a and sm_103a, and says what it is elsewhere", () => {
  const fine = groupedMatmul.point({ m: 8, n: 64, k: 64 });
  for (const arch of ["sm_100a", "sm_103a"]) {
    assertStrictEquals(
      blackwell.unsupported(fine, { ...b200, arch }),
      undefined,
    );
  }
  for (const arch of ["sm_90a", "sm_100", "sm_120a", "sm_80"]) {
    assertMatch(
      blackwell.unsupported(fine, { ...b200, arch })!,
      new RegExp(`^${arch} has no tcgen05: .* never run$`),
    );
  }
  const odd = groupedMatmul.point({ m: 8, n: 64, k: 48 });
  assertMatch(blackwell.unsupported(odd, b200)!, /^K=48 is no multiple of 64/);
});

Deno.test("blackwell.idea says that it was never run", () => {
  assertMatch(blackwell.idea, /compiled, never run$/);
});

Deno.test("blackwell.candidates() fit a block at each list and edge-case shape", () => {
  for (const point of [...groupedMatmul.edgeCases, ...lists]) {
    if (blackwell.unsupported(point, b200)) continue;
    const legal = [...blackwell.candidates(point, b200)]
      .filter(({ illegal }) => illegal === undefined);
    assert(legal.length > 0, `${groupedMatmul.key(point).params}`);
    for (const { config } of legal) {
      const bytes = sharedBytes(config as Parameters<typeof sharedBytes>[0]);
      assert(
        bytes <= b200.sharedBytes,
        `${bytes} at ${JSON.stringify(config)}`,
      );
    }
  }
});

Deno.test("blackwell.candidates() name the rule that a config breaks", () => {
  const broken = (values: Values, info: DeviceInfo) =>
    new Set(
      [...blackwell.candidates(groupedMatmul.point(values), info)]
        .map(({ rule }) => rule).filter((rule) => rule !== undefined),
    );
  const list = { m: 320, n: 256, k: 64 };
  assertEquals(
    broken({ ...list, layout: "nt-mmajor" }, b200),
    new Set(["pair", "rows", "stages"]),
  );
  assertEquals(
    broken(list, b200),
    new Set(["pair", "rows", "store", "stages"]),
  );
  assertEquals(
    broken({ ...list, m: 8, n: 128 }, { ...b200, tensorMaps: false }),
    new Set(["tokens", "maps", "pair", "store"]),
  );
  assert(broken({ ...list, n: 128 }, b200).has("rows"));
  // Copies by lanes alone keep their blocks apart: the rest is for want of clusters.
  const alone = [
    ...blackwell.candidates(groupedMatmul.point(list), {
      ...b200,
      clusters: [148, 0],
    }),
  ].filter(({ config }) => config.PAIR === 2);
  assert(alone.every(({ illegal }) => illegal !== undefined));
});

Deno.test("the README's steps are legal configs at a benchmark list", () => {
  const readme = Deno.readTextFileSync(new URL("./README.md", import.meta.url));
  const steps = readme.split("\n").filter((line) => /^\| \S+ .*=\d/.test(line));
  assertStrictEquals(steps.length, 8);
  const legal = [...blackwell.candidates(
    groupedMatmul.point({
      m: "192+320",
      n: 3072,
      k: 4096,
      layout: "nt-mmajor",
    }),
    b200,
  )].filter(({ illegal }) => illegal === undefined);
  for (const step of steps) {
    const keys = [...step.matchAll(/(\w+)=(\d+)/g)];
    assert(
      legal.some(({ config }) =>
        keys.every(([, key, value]) => config[key!] === Number(value))
      ),
      step,
    );
  }
});

Deno.test("a config has the tensor maps, clusters and launches that it names", () => {
  const plan = (config: BlackwellConfig) =>
    listen(groupedMatmul, blackwell, {
      values: { m: "80+0+65", n: 264, k: 64 },
      config,
    }).queue.map(({ shape }) => [shape!.grid[0], shape!.cluster]);
  assertEquals(plan(PLAIN), [[6, 1]]);
  assertEquals(plan({ ...PLAIN, TMA: 2, PAIR: 2 }), [[8, 2]]);
  assertEquals(plan({ ...PLAIN, TMA: 2, SHARE: 4 }), [[8, 4]]);
  // Two blocks of each of 132 multiprocessors would be more.
  assertEquals(plan({ ...PLAIN, TMA: 1, COUNTER: 1 }), [[6, 1]]);
  assertEquals(
    plan({ ...PLAIN, MAXN: 64, TMA: 2, SHARE: 4, COUNTER: 1 }),
    [[16, 4]],
  );
  assertEquals(plan({ ...PLAIN, TMA: 1, STAGES: 2, EACH: 1 }), [[3, 1], [
    3,
    1,
  ]]);
});

Deno.test("itemsOf() has each weight and token once, columns in 16s, heaviest first", () => {
  const point = groupedMatmul.point({ m: "72+0+330", n: "136+8+128", k: 64 });
  const items = itemsOf(realProblems(point), { ...PLAIN, MAXN: 192 });
  assertEquals(
    items.map(({ problem, row, token, cols }) => [problem, row, token, cols]),
    // 330 tokens are 192 and 138, which are 9 times 16; 72 are 5 times 16.
    [[1, 0, 0, 192], [1, 0, 192, 144], [0, 0, 0, 80], [0, 128, 0, 80]],
  );
  assertEquals([...new Int32Array(itemTable(items).buffer, 16, 4)], [
    ...[1, 0, 192, 144],
  ]);
});

const nvcc = (() => {
  try {
    return new Deno.Command("nvcc", { args: ["--version"] }).outputSync()
      .success;
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return false;
    throw error;
  }
})();
const skip = nvcc ? "" : " (ignored: nvcc is not on PATH)";

async function compile(arch: string, config: BlackwellConfig) {
  const binary = await Deno.makeTempFile({ suffix: ".cubin" });
  try {
    const [{ defines, source }] = blackwell.builds(lists[0]!, config) as [
      ReturnType<typeof blackwell.builds>[number],
    ];
    const { success, stderr, stdout } = await new Deno.Command("nvcc", {
      args: [
        "-cubin",
        "-O3",
        "-std=c++17",
        `-gencode=arch=compute_${arch},code=sm_${arch}`,
        "-Xptxas=-v",
        "-Werror=all-warnings",
        ...Object.entries(defines).map(([k, v]) => `-D${k}=${v}`),
        decodeURIComponent(source.pathname),
        `-o=${binary}`,
      ],
    }).output();
    const decoder = new TextDecoder();
    return { success, log: decoder.decode(stdout) + decoder.decode(stderr) };
  } finally {
    await Deno.remove(binary);
  }
}

Deno.test({
  name:
    `blackwell.builds() compile for sm_100a and sm_103a without spilling${skip}`,
  ignore: !nvcc,
  async fn() {
    const results = await Promise.all([
      compile("100a", PLAIN),
      compile("103a", { ...PLAIN, MAXN: 256, TMA: 1, STAGES: 2 }),
      compile("100a", { ...PLAIN, TMA: 2, PAIR: 2, STORE: 32 }),
      compile("100a", { ...PLAIN, MAXN: 64, TMA: 2, SHARE: 4 }),
      compile("100a", { ...PLAIN, TMA: 1, COUNTER: 1 }),
      compile("100a", { ...PLAIN, TMA: 2, PAIR: 2, COUNTER: 1 }),
    ]);
    for (const { success, log } of results) {
      assert(success, log);
      assertMatch(log, /0 bytes stack frame, 0 bytes spill stores/, log);
    }
  },
});

Deno.test({
  name: `blackwell.builds() do not compile for plain sm_100${skip}`,
  ignore: !nvcc,
  async fn() {
    const { success, log } = await compile("100", PLAIN);
    assertStrictEquals(success, false);
    assertMatch(log, /tcgen05.* not supported on .target 'sm_100'/);
  },
});
