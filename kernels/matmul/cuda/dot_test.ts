import {
  assert,
  assertEquals,
  assertMatch,
  assertStrictEquals,
} from "@std/assert";
import type { Values } from "../../../bench/model/grid.ts";
import { dotRules, predictDot } from "./dot.ts";
import { matmul } from "../op.ts";
import { h200 } from "../../testdata/devices.ts";
import { kernel, legal, plan } from "../testdata/listener.ts";
import { memoryOf, numbers } from "../../testdata/listener.ts";

const config = { THREADS: 256, COLS: 4, UNROLL: 2, CLUSTER: 4 };
const router = { m: 4, n: 256, k: 7168, layout: "nt" };
type Rule = keyof typeof dotRules;
/** What a rule says of `config` with changes at the router's shape with changes. */
const said = (rule: Rule, values: Values, changes: Partial<typeof config>) =>
  dotRules[rule](
    matmul.point({ ...router, ...values }),
    { ...config, ...changes },
    h200,
  );

Deno.test("dot is one launch of clusters that share K", () => {
  const shape = { ...router, m: 3, n: 257, ldc: 300, epilogue: "bias+relu" };
  const p = plan("dot", shape, config);
  const [launch, ...more] = p.queue;
  assertStrictEquals(more.length, 0);
  assertEquals(p.allocated, []);
  assertStrictEquals(launch!.what, "dot");
  assertEquals(launch!.shape, {
    grid: [65 * 4, 1, 1],
    block: [256, 1, 1],
    cluster: 4,
  });
  const { A, B, bias, C } = p.operands;
  assertEquals(launch!.args.slice(0, 4).map(memoryOf), [A, B, bias, C]);
  // M, N, K, lda, ldb, ldc, whole, ReLU.
  assertEquals(numbers(launch!.args), [
    ...[3, 257, 7168, 7168, 7168, 300],
    ...[1, 1],
  ]);
  const alone = plan("dot", router, { ...config, CLUSTER: 1 }).queue[0]!;
  assertStrictEquals(alone.shape!.cluster, undefined);
});

Deno.test("dot reads element by element where 16 bytes do not fit", () => {
  const whole = (values: Values, offset = 0n) =>
    numbers(
      plan("dot", { ...router, ...values }, config, { offset }).queue[0]!.args,
    ).at(-2);
  assertStrictEquals(whole({}), 1);
  assertStrictEquals(whole({ k: 7164 }), 0);
  assertStrictEquals(whole({ k: 7164, type: "f32" }), 1);
  assertStrictEquals(whole({ lda: 7169 }), 0);
  assertStrictEquals(whole({ ldb: 7172 }), 0);
  assertStrictEquals(whole({ n: 255 }), 1);
  assertStrictEquals(whole({}, 8n), 0);
  // Of B in rows of N only the rows are chunks, and A is read by elements.
  assertStrictEquals(whole({ layout: "nn", k: 7163, lda: 7169 }), 1);
  assertStrictEquals(whole({ layout: "nn", n: 255 }), 0);
  assertStrictEquals(whole({ layout: "nn", ldb: 260 }), 0);
});

Deno.test("dot is for at most eight rows, compiled for 1, 2, 4 or 8", () => {
  const point = (m: number) => matmul.point({ ...router, m });
  assertStrictEquals(kernel("dot").unsupported(point(8), h200), undefined);
  assertStrictEquals(
    kernel("dot").unsupported(point(9), h200),
    "M=9: a thread has registers for 8 rows of sums",
  );
  assertEquals(
    [1, 2, 3, 4, 5, 8].map((m) =>
      kernel("dot").builds(point(m), config)[0]!.defines.ROWS
    ),
    [1, 2, 4, 4, 8, 8],
  );
});

Deno.test("dotRules name what is wrong with a config", () => {
  assertStrictEquals(said("columns", { n: 4 }, {}), undefined);
  assertStrictEquals(
    said("columns", { n: 2 }, {}),
    "more than half of COLS=4 would be padding",
  );
  assertStrictEquals(
    said("finish", { m: 8, layout: "nn" }, { THREADS: 128, COLS: 32 }),
    "256 sums are more than the 128 threads that finish one each",
  );
  assertMatch(
    said("registers", { m: 8 }, { COLS: 8, UNROLL: 8 }) ?? "",
    /^about \d+ registers a thread are more than 236$/,
  );
  // 7168 / 8 / 4 chunks for 256 threads.
  assertStrictEquals(
    said("unroll", {}, {}),
    "UNROLL=2 is more than twice the 1 steps of a thread",
  );
  assertStrictEquals(said("unroll", {}, { CLUSTER: 1, UNROLL: 4 }), undefined);
  assertStrictEquals(
    said("idle", { k: 1000 }, {}),
    "more than half of the threads would have no part of K=1000",
  );
  assertStrictEquals(
    said("cluster", { n: 2048 }, {}),
    "512 groups of columns fill 132 multiprocessors without clusters",
  );
  const old = { ...h200, arch: "sm_80" };
  assertMatch(
    dotRules.cluster(matmul.point(router), config, old) ?? "",
    /^sm_80 has no thread-block clusters/,
  );
});

Deno.test("candidates() of dot are legal at every size, the fullest first", () => {
  for (const layout of ["nn", "nt"]) {
    for (const type of ["bf16", "f32"]) {
      for (const [m, n, k] of [[1, 1, 1], [8, 3, 7], [1, 256, 7168]] as const) {
        const configs = legal("dot", { m, n, k, layout, type });
        assert(configs.length > 0, `${layout} ${type} ${m}x${n}x${k}`);
      }
    }
  }
  const point = matmul.point({ ...router, m: 1 });
  const [first] = legal("dot", { ...router, m: 1 });
  const slow = { THREADS: 128, COLS: 8, UNROLL: 1, CLUSTER: 1 };
  assert(
    predictDot(point, first as typeof config, h200) <
      predictDot(point, slow, h200),
  );
});
