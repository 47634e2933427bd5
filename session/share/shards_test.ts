import { assert, assertEquals, assertThrows } from "@std/assert";
import { temporary } from "../../bench/testdata/temporary.ts";
import { UserError } from "../../bench/model/errors.ts";
import { DEFAULTS } from "../../bench/model/settings.ts";
import { keyOf } from "../../bench/row/row.ts";
import { casesAnywhere } from "../select.ts";
import { weightOf } from "../remaining.ts";
import {
  casesOfShards,
  deal,
  dealPoints,
  shardsIn,
  writeShardFile,
} from "./shards.ts";

const cases = await casesAnywhere({
  kernels: [],
  overrides: {},
  where: {},
  quick: false,
  suites: ["epilogue-bf16", "matmul-fp32"],
  backend: "cuda",
  device: 0,
});

Deno.test("deal() gives every case to one part, in order, of about the same cost", () => {
  const costOf = (own: typeof cases) =>
    own.reduce((sum, c) => sum + weightOf(c.problem.work, c.backend), 0);
  for (const count of [1, 2, 8, 16]) {
    const parts = deal(cases, count);
    assertEquals(parts.length, count);
    const places = parts.map((own) => own.map((c) => cases.indexOf(c)));
    for (const own of places) assertEquals(own, own.toSorted((a, b) => a - b));
    assertEquals(
      places.flat().toSorted((a, b) => a - b),
      cases.map((_, i) => i),
    );
    const fair = costOf(cases) / count;
    for (const own of parts) {
      assert(costOf(own) <= 1.25 * fair, `${costOf(own)} of ${fair}`);
    }
  }
});

Deno.test("dealPoints() gives all kernels of a shape to one shard, of about the same cost", () => {
  const costOf = (own: typeof cases) =>
    own.reduce((sum, c) => sum + weightOf(c.problem.work, c.backend), 0);
  const points = [...Map.groupBy(cases, ({ problem }) => problem).values()];
  const largest = Math.max(...points.map(costOf));
  for (const count of [1, 2, 8, points.length + 3]) {
    const parts = dealPoints(cases, count);
    assertEquals(parts.length, count);
    assertEquals(new Set(parts.flat()).size, cases.length);
    for (const own of points) {
      assertEquals(parts.filter((part) => part.includes(own[0]!)).length, 1);
      const part = parts.find((part) => part.includes(own[0]!))!;
      assert(own.every((c) => part.includes(c)));
    }
    const fair = costOf(cases) / count;
    for (const own of parts) {
      assert(costOf(own) <= 1.25 * fair + largest, `${costOf(own)} of ${fair}`);
    }
    assertEquals(
      dealPoints([...cases].toReversed(), count).map((part) => new Set(part)),
      parts.map((part) => new Set(part)),
    );
  }
});

Deno.test("deal() keeps the cases of a problem together where they are few, and those of a config always", () => {
  const [half] = deal(cases, 2);
  const here = new Set(half!.map(({ problem }) => problem));
  assertEquals(half!.length, cases.filter((c) => here.has(c.problem)).length);
  const follower = cases.find(({ follows }) => follows !== undefined)!;
  const parts = deal(cases, 200);
  const own = parts.find((part) => part.includes(follower))!;
  assert(
    own.some((c) =>
      c.kernel === follower.follows!.kernel && c.problem === follower.problem
    ),
  );
});

Deno.test("deal() does not give all cases of a kernel to one part", async () => {
  const own = await casesAnywhere({
    kernels: ["naive", "openblas"],
    where: {},
    quick: false,
    suites: ["matmul-fp32"],
    backend: "cpu",
    device: 0,
    overrides: { m: [1, 2, 3, 4], n: [16], k: [16] },
  });
  for (const part of deal(own, 2)) {
    assertEquals(part.length, 4);
    assertEquals(new Set(part.map(({ kernel }) => kernel)).size, 2);
  }
});

Deno.test("shardsIn() reads what writeShardFile() wrote, and refuses it damaged", () => {
  using folder = temporary();
  const { path } = folder;
  const parts = deal(cases, 3);
  const selection = {
    suites: ["s"],
    kernels: [],
    backend: "cuda",
    device: 0,
    points: "all" as const,
    overrides: {},
    where: {},
    shard: { index: 2, count: 3 },
  };
  writeShardFile(path, {
    run: "r",
    commit: "c",
    parts,
    info: {
      selection,
      settings: { ...DEFAULTS, cacheDir: "x" },
      runs: 1,
      harness: "0.2.0",
      device: "D",
      arch: "a",
      command: [],
      started: "",
    },
  });
  const [shard, ...more] = shardsIn(path);
  assertEquals(more, []);
  assertEquals(shard!.shard, { index: 2, count: 3 });
  assertEquals(
    casesOfShards(shard!),
    parts.map((own) => own.map(keyOf)),
  );
  assertThrows(
    () => casesOfShards({ ...shard!, cases: "0" }),
    UserError,
    "its checksum is of other content",
  );
  const text = Deno.readTextFileSync(shard!.path);
  Deno.writeTextFileSync(shard!.path, text.replace('"r"', '"q"'));
  assertThrows(() => shardsIn(path), UserError, "its checksum is of other");
});
