import { match, strictEqual } from "node:assert/strict";
import { hipTest } from "../../../../backends/testdata/hip_mocks.ts";
import type { Values } from "../../../../bench/model/grid.ts";
import { matmul } from "../../op.ts";
import { type Change, emulate, Workshop } from "../../../testdata/emulated.ts";
import { splitkAtomic, splitkPartials } from "./splitk.ts";
import { type SplitkConfig } from "./config.ts";

const base: SplitkConfig = {
  ...{ TM: 16, TN: 64, TK: 64, STAGES: 4, SPLIT: 2 },
  ...{ WAVES_M: 1, WAVES_N: 2, WAVES_K: 1, ASYNC: 1, B_TO_LDS: 1 },
};

const POINT = { m: 21, n: 128, k: 768, layout: "nt", type: "bf16" };

interface Mutant extends Omit<Change, "file"> {
  readonly name: string;
  readonly atomic?: boolean;
  readonly config?: Values;
}

const MUTANTS: readonly Mutant[] = [
  {
    name: "the wait for copies",
    from: "wait_copies<(STAGES - 2) * COPIES>()",
    to: "wait_copies<(STAGES - 1) * COPIES>()",
  },
  {
    name: "the wait for the last copies",
    from: "else wait_copies<0>();",
    to: "",
  },
  {
    name: "the barrier after the wait for copies",
    from: "    else wait_copies<0>();\n    barrier();",
    to: "    else wait_copies<0>();",
  },
  {
    name: "a stage of the ring",
    from: "start(step + STAGES - 1);\n    take_b",
    to: "start(step + STAGES);\n    take_b",
  },
  {
    name: "the permutation of what is copied",
    from:
      "int row = at / CHUNKS, chunk = chunk_at(row, at % CHUNKS) - row * CHUNKS;",
    to: "int row = at / CHUNKS, chunk = at % CHUNKS;",
  },
  {
    name: "the wait for the signal",
    from: "else while (agent_load_acquire(signals + tile) == 0) pause();",
    to: "",
    atomic: true,
  },
  {
    name: "the barrier after the wait for the signal",
    from: "  if (ATOMIC) barrier();\n",
    to: "",
    atomic: true,
  },
  {
    name: "the reset of the signal",
    from: "    if (ATOMIC) agent_store(signals + tile, 0);\n",
    to: "",
    atomic: true,
  },
  {
    name: "the reset of the counter",
    from: "    agent_store(counters + tile, 0);\n",
    to: "",
  },
  {
    name: "the barrier before the counter",
    from: "nobody left to wait for.\n  barrier();",
    to: "nobody left to wait for.",
  },
  {
    name: "the barrier after the counter",
    from: "== splits - 1;\n  barrier();",
    to: "== splits - 1;",
  },
  {
    name: "a split",
    from: "s < splits; s++",
    to: "s < splits - 1; s++",
  },
  {
    name: "the guard of the rows beyond M",
    from: "    if (row >= M) continue;\n#if ATOMIC",
    to: "#if ATOMIC",
  },
  {
    name: "the clamp of the rows beyond M",
    from: "(row < rows ? row : 0)",
    to: "row",
    config: { TM: 32 },
  },
];

/** What a mutant is tried at: where nothing is rounded, so that the original is exact. */
function mutantCase({ atomic = false, config }: Mutant) {
  return {
    op: matmul,
    kernel: atomic ? splitkAtomic : splitkPartials,
    point: matmul.point({
      ...{ ...POINT, m: 17, type: "f16" },
      epilogue: atomic ? "bias" : "relu",
    }),
    config: { ...base, ...config },
    fill: "integers",
    seeds: [1, 2, 3, 4, 5, 6],
  } as const;
}

hipTest(
  "splitk-lds as it is passes where its mutants are caught",
  async (device) => {
    using workshop = new Workshop();
    const cases = new Map(MUTANTS.map((mutant) => {
      const tried = mutantCase(mutant);
      return [JSON.stringify([tried.kernel.name, tried.config]), tried];
    }));
    for (const [title, tried] of cases) {
      strictEqual(await emulate(device, workshop, tried), "", title);
    }
  },
);

for (const mutant of MUTANTS) {
  hipTest(`splitk-lds without ${mutant.name} is caught`, async (device) => {
    const { from, to } = mutant;
    using workshop = new Workshop({ from, to, file: "splitk.hip" });
    const found = await emulate(device, workshop, mutantCase(mutant));
    match(
      found,
      /race|wrong|nobody wrote|under way|no memory|across the end|waits for/,
    );
  });
}
