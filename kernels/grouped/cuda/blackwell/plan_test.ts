import { ok, strictEqual } from "node:assert/strict";
import { groupedMatmul } from "../../op.ts";
import { realProblems } from "../../point.ts";
import { BENCH_LISTS } from "../../gpu_mode.ts";
import { blocksOf, itemsOf, sharedBytes, stagesOf } from "./blackwell.ts";
import { test } from "./testdata/encoders.ts";

const SIZES = [64, 128, 192, 256];

test("columns of tensor memory are nobody's or one's, and two blocks have room", (encoders) => {
  for (const MAXN of SIZES) {
    const stages = stagesOf({ MAXN });
    const columns = encoders.test_tensor_columns(MAXN, stages);
    ok([32, 64, 128, 256, 512].includes(columns));
    ok(columns * blocksOf({ MAXN }) <= 512, `MAXN=${MAXN}: ${columns}`);
    const owners = new Array<string>(columns).fill("");
    const take = (at: number, count: number, owner: string) => {
      for (let i = at; i < at + count; i++) {
        strictEqual(owners[i], "", `${owner} at ${i}`);
        owners[i] = owner;
      }
    };
    take(0, MAXN, "sums");
    for (let stage = 0; stage < stages; stage++) {
      for (let slab = 0; slab < 4; slab++) {
        const weights = encoders.test_weight_scales_column(MAXN, stage, slab);
        take(weights, 4, `weights ${stage} ${slab}`);
        for (let atom = 0; atom < Math.ceil(MAXN / 128); atom++) {
          const tokens = encoders.test_token_scales_column(
            MAXN,
            stage,
            slab,
            atom,
          );
          take(tokens, 4, `tokens ${stage} ${slab} ${atom}`);
        }
      }
    }
  }
});

test("shared memory is nobody's or one's, stages at 1024s, and sharedBytes() is its size", (encoders) => {
  for (const MAXN of SIZES) {
    const stages = stagesOf({ MAXN });
    ok(stages >= 3);
    const stage = encoders.test_stage_bytes(MAXN);
    strictEqual(stage % 1024, 0);
    // Weights, tokens, scales of weights, scales of tokens.
    strictEqual(
      encoders.test_weight_scales_offset(MAXN, 0),
      (128 + MAXN) * 128,
    );
    strictEqual(
      encoders.test_token_scales_offset(MAXN, 0, 0),
      (128 + MAXN) * 128 + 2048,
    );
    strictEqual(
      encoders.test_token_scales_offset(MAXN, Math.ceil(MAXN / 128) - 1, 3),
      stage - 512,
    );
    strictEqual(encoders.test_full_offset(MAXN, stages, 0), stages * stage);
    strictEqual(
      encoders.test_empty_offset(MAXN, stages, stages - 1),
      stages * stage + 8 * (2 * stages - 1),
    );
    const bytes = encoders.test_shared_bytes(MAXN, stages);
    strictEqual(bytes, sharedBytes({ MAXN }));
    // 228 KB of a multiprocessor, 1 KB of which each block costs.
    ok((bytes + 1024) * blocksOf({ MAXN }) <= 228 * 1024);
  }
});

test("itemsOf() cuts tiles whose scales are in as many atoms as there is room for", () => {
  const points = [
    ...groupedMatmul.edgeCases,
    ...BENCH_LISTS.map(({ m, n, k }) =>
      groupedMatmul.point({ m: m.join("+"), n, k })
    ),
    ...Array.from(
      { length: 600 },
      (_, i) => groupedMatmul.point({ m: i + 1, n: 8, k: 64 }),
    ),
  ];
  for (const MAXN of SIZES) {
    for (const point of points) {
      const problems = realProblems(point);
      for (const item of itemsOf(problems, { MAXN })) {
        const { problem, token, cols } = item;
        const { m } = problems[problem]!;
        strictEqual(token % 64, 0);
        ok(token < m && cols % 16 === 0 && cols >= 16 && cols <= MAXN);
        ok(token + cols < m + 16 || m - token > cols);
        const atoms = Math.floor((token + cols - 1) / 128) -
          Math.floor(token / 128) + 1;
        ok(atoms <= Math.ceil(MAXN / 128), JSON.stringify({ m, MAXN, item }));
      }
    }
  }
});

/** mbarrier of PTX: a phase is over when nothing is pending; parity p asks for the last such one. */
class Barrier {
  #phase = 0;
  arrive() {
    this.#phase++;
  }
  passes(parity: number): boolean {
    return this.#phase % 2 !== parity;
  }
}

test("parities let neither side of the ring overtake the other, nor stop it", (encoders) => {
  const { test_ring_index: place, test_full_parity, test_empty_parity } =
    encoders;
  for (const stages of [3, 4]) {
    for (let order = 0; order < 50; order++) {
      const full = Array.from({ length: stages }, () => new Barrier());
      const empty = Array.from({ length: stages }, () => new Barrier());
      const held = new Array<number | undefined>(stages).fill(undefined);
      const steps = 5 * stages + 1;
      let [written, read, seed] = [0, 0, order + 1];
      for (let turn = 0; read < steps; turn++) {
        ok(turn < 1000, `${stages} stages stop at ${written}, ${read}`);
        seed = seed * 48271 % 2147483647;
        if (seed % 5 > order % 4 && written < steps) {
          const at = place(written, stages);
          if (!empty[at]!.passes(test_empty_parity(written, stages))) continue;
          strictEqual(held[at], undefined, "written before it was read");
          held[at] = written++;
          full[at]!.arrive();
        } else {
          const at = place(read, stages);
          if (!full[at]!.passes(test_full_parity(read, stages))) continue;
          strictEqual(held[at], read++, "read before it was written");
          held[at] = undefined;
          empty[at]!.arrive();
        }
      }
    }
  }
});
