import { assert, assertEquals, assertStrictEquals } from "@std/assert";
import { blockedOffset } from "../../../../bench/formats/blocked_scales.ts";
import { groupedMatmul } from "../../op.ts";
import { BENCH_LISTS, realProblems } from "../../point.ts";
import {
  type BlackwellConfig,
  blocksOf,
  itemsOf,
  sharedBytes,
  stagesOf,
} from "./blackwell.ts";

const CC = "cc";
const found = (() => {
  try {
    return new Deno.Command(CC, { args: ["--version"] }).outputSync().success;
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return false;
    throw error;
  }
})();
const options = { ignore: !found };
const skip = found ? "" : " (ignored: no C compiler)";

const [I, U, Q] = ["i32", "u32", "u64"] as const;
const SYMBOLS = {
  test_operand_descriptor: { parameters: [U, I], result: Q },
  test_operand_offset: { parameters: [I, I], result: I },
  test_scale_descriptor: { parameters: [U], result: Q },
  test_instruction_descriptor: { parameters: [I, I], result: U },
  test_tensor_address: { parameters: [U, I, I], result: U },
  test_stage_bytes: { parameters: [I, I], result: I },
  test_weight_scales_offset: { parameters: [I, I, I], result: I },
  test_token_scales_offset: { parameters: [I, I, I, I], result: I },
  test_full_offset: { parameters: [I, I, I, I], result: I },
  test_empty_offset: { parameters: [I, I, I, I], result: I },
  test_shared_bytes: { parameters: [I, I, I], result: I },
  test_weight_scales_column: { parameters: [I, I, I], result: I },
  test_token_scales_column: { parameters: [I, I, I, I], result: I },
  test_token_shift: { parameters: [I], result: I },
  test_tensor_columns: { parameters: [I, I], result: I },
  test_ring_index: { parameters: [I, I], result: I },
  test_full_parity: { parameters: [I, I], result: I },
  test_empty_parity: { parameters: [I, I], result: I },
} as const;

/** The functions of encoders.h. */
function load() {
  const binary = Deno.makeTempFileSync({ suffix: ".so" });
  try {
    const { success, stderr } = new Deno.Command(CC, {
      args: [
        "-shared",
        "-fPIC",
        "-Wall",
        "-Wextra",
        "-Werror",
        new URL("./testdata/encoders.c", import.meta.url).pathname,
        "-o",
        binary,
      ],
    }).outputSync();
    assertStrictEquals(success, true, new TextDecoder().decode(stderr));
    return Deno.dlopen(binary, SYMBOLS).symbols;
  } finally {
    Deno.removeSync(binary);
  }
}
type Encoders = ReturnType<typeof load>;

let loaded: Encoders | undefined;
/** A test of encoders.h; ignored without a C compiler. */
function test(name: string, fn: (encoders: Encoders) => void) {
  Deno.test({
    ...options,
    name: `${name}${skip}`,
    // The library stays open: its functions are shared by the tests.
    sanitizeResources: false,
    fn: () => fn(loaded ??= load()),
  });
}

// PTX ISA, table "Shared memory descriptor layout": address at bit 0, leading dimension at 16,
// stride at 32, all in 16 bytes; 0b001 at 46; swizzle 2 (128 bytes) at 61.
test("operand_descriptor() is PTX's, by hand", (encoders) => {
  const of = encoders.test_operand_descriptor;
  // 1024 / 16 = 0x40; 1; 0b001 << 14 in the third quarter; 2 << 13 in the last.
  assertStrictEquals(of(0, 0), 0x4000_4040_0001_0000n);
  assertStrictEquals(of(0x400, 0), 0x4000_4040_0001_0040n);
  // A slab is 32 bytes on: two units.
  assertStrictEquals(of(0x8400, 3), 0x4000_4040_0001_0846n);
  // The last stage of a full shared memory: 227 KB are 0x38c00.
  assertStrictEquals(of(0x38000, 1), 0x4000_4040_0001_3802n);
});

test("operand_offset() swaps bits 4-6 by bits 7-9, by hand and for all", (encoders) => {
  const of = encoders.test_operand_offset;
  assertEquals([of(0, 0), of(0, 7), of(1, 0), of(1, 1)], [0, 112, 144, 128]);
  assertEquals([of(7, 0), of(7, 7), of(8, 3), of(13, 2)], [
    896 + 112,
    896,
    1024 + 48,
    1664 + 16 * 7,
  ]);
  const places = new Set<number>();
  for (let row = 0; row < 256; row++) {
    for (let chunk = 0; chunk < 8; chunk++) {
      const plain = row * 128 + chunk * 16;
      assertStrictEquals(of(row, chunk), plain ^ ((plain >> 7 & 7) << 4));
      places.add(of(row, chunk));
    }
  }
  assertStrictEquals(places.size, 256 * 8);
});

test("scale_descriptor() is PTX's without a swizzle, by hand", (encoders) => {
  const of = encoders.test_scale_descriptor;
  // 128 / 16 = 8.
  assertStrictEquals(of(0), 0x0000_4008_0000_0000n);
  assertStrictEquals(of(0x6200), 0x0000_4008_0000_0620n);
});

// PTX ISA, table "Instruction descriptor format for .kind::mxf4 and .kind::mxf4nvf4": E2M1 = 1 at
// 7 and at 10, N >> 3 at 17, UE4M3 = 0 at 23, M >> 7 at 27, ids 0 at 4 and 29, K = 64 is 0 at 31.
test("instruction_descriptor() is PTX's, by hand", (encoders) => {
  const of = encoders.test_instruction_descriptor;
  assertStrictEquals(of(128, 128), 0x0820_0480); // 16 << 17 is 0x200000, 1 << 27 is 0x8000000
  assertStrictEquals(of(128, 16), 0x0804_0480);
  assertStrictEquals(of(128, 256), 0x0840_0480);
  assertStrictEquals(of(128, 80), 0x0814_0480);
});

test("tensor_address() has the lane above the column", (encoders) => {
  assertStrictEquals(encoders.test_tensor_address(0x100, 96, 48), 0x0060_0130);
});

// PTX ISA, "Block scaling", 4X: row r has its four scales in lane r % 32, column r / 32.
test("an atom of scales lands where products read it: 32x128b of the blocked layout", () => {
  for (let row = 0; row < 128; row++) {
    for (let block = 0; block < 4; block++) {
      const offset = blockedOffset(row, block, 4);
      // tcgen05.cp.32x128b: lane i has bytes 16 i and on, four to a column.
      assertEquals([
        Math.floor(offset / 16),
        Math.floor(offset % 16 / 4),
        offset % 4,
      ], [row % 32, Math.floor(row / 32), block]);
    }
  }
});

test("token_scales_column() has the atoms of a slab side by side, tiles starting at 0 or 2", (encoders) => {
  const column = encoders.test_token_scales_column;
  // 256 sums; stage 1 starts 4 * 4 * (1 + 2) on, its tokens 16 after that.
  assertEquals([column(256, 1, 0, 0), column(256, 1, 0, 1)], [320, 324]);
  assertStrictEquals(column(256, 1, 3, 1), 320 + 3 * 8 + 4);
  assertEquals([column(64, 0, 0, 0), column(64, 2, 1, 0)], [80, 148]);
  assertEquals([0, 64, 128, 192, 320].map(encoders.test_token_shift), [
    ...[0, 2, 0, 2, 2],
  ]);
});

const SIZES = [64, 128, 192, 256];

const config = (MAXN: number, PAIR: number): BlackwellConfig => ({
  MAXN,
  TMA: 1,
  PAIR,
  SHARE: 1,
  STORE: 16,
  COUNTER: 0,
  STAGES: 0,
  EACH: 0,
});

test("columns of tensor memory are nobody's or one's, and two blocks have room", (encoders) => {
  for (const [MAXN, PAIR] of SIZES.flatMap((n) => [[n, 1], [n, 2]] as const)) {
    const stages = stagesOf(config(MAXN, PAIR));
    const columns = encoders.test_tensor_columns(MAXN, stages);
    assert([32, 64, 128, 256, 512].includes(columns));
    assert(
      columns * blocksOf(config(MAXN, PAIR)) <= 512,
      `MAXN=${MAXN}: ${columns}`,
    );
    const owners = new Array<string>(columns).fill("");
    const take = (at: number, count: number, owner: string) => {
      for (let i = at; i < at + count; i++) {
        assertStrictEquals(owners[i], "", `${owner} at ${i}`);
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
  for (const [MAXN, PAIR] of SIZES.flatMap((n) => [[n, 1], [n, 2]] as const)) {
    const stages = stagesOf(config(MAXN, PAIR));
    assert(stages >= 3);
    const stage = encoders.test_stage_bytes(MAXN, PAIR);
    assertStrictEquals(stage % 1024, 0);
    // Weights, tokens, scales of weights, scales of tokens.
    assertStrictEquals(
      encoders.test_weight_scales_offset(MAXN, PAIR, 0),
      (128 + MAXN / PAIR) * 128,
    );
    assertStrictEquals(
      encoders.test_token_scales_offset(MAXN, PAIR, 0, 0),
      (128 + MAXN / PAIR) * 128 + 2048,
    );
    assertStrictEquals(
      encoders.test_token_scales_offset(
        MAXN,
        PAIR,
        Math.ceil(MAXN / 128) - 1,
        3,
      ),
      stage - 512,
    );
    assertStrictEquals(
      encoders.test_full_offset(MAXN, PAIR, stages, 0),
      stages * stage,
    );
    assertStrictEquals(
      encoders.test_empty_offset(MAXN, PAIR, stages, stages - 1),
      stages * stage + 8 * (2 * stages - 1),
    );
    const bytes = encoders.test_shared_bytes(MAXN, PAIR, stages);
    assertStrictEquals(bytes, sharedBytes(config(MAXN, PAIR)));
    // 228 KB of a multiprocessor, 1 KB of which each block costs.
    assert((bytes + 1024) * blocksOf(config(MAXN, PAIR)) <= 228 * 1024);
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
      for (const item of itemsOf(problems, config(MAXN, 1))) {
        const { problem, token, cols } = item;
        const { m } = problems[problem]!;
        assertStrictEquals(token % 64, 0);
        assert(token < m && cols % 16 === 0 && cols >= 16 && cols <= MAXN);
        assert(token + cols < m + 16 || m - token > cols);
        const atoms = Math.floor((token + cols - 1) / 128) -
          Math.floor(token / 128) + 1;
        assert(
          atoms <= Math.ceil(MAXN / 128),
          JSON.stringify({ m, MAXN, item }),
        );
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
        assert(turn < 1000, `${stages} stages stop at ${written}, ${read}`);
        seed = seed * 48271 % 2147483647;
        if (seed % 5 > order % 4 && written < steps) {
          const at = place(written, stages);
          if (!empty[at]!.passes(test_empty_parity(written, stages))) continue;
          assertStrictEquals(held[at], undefined, "written before it was read");
          held[at] = written++;
          full[at]!.arrive();
        } else {
          const at = place(read, stages);
          if (!full[at]!.passes(test_full_parity(read, stages))) continue;
          assertStrictEquals(held[at], read++, "read before it was written");
          held[at] = undefined;
          empty[at]!.arrive();
        }
      }
    }
  }
});
