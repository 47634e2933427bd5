/**
 * Mutants of the CUDA kernels of `grouped-matmul`, each with few units and few stages.
 *
 * @module
 */

import type { Build, Device } from "../../../bench/device/device.ts";
import type { Values } from "../../../bench/model/grid.ts";
import type { Kernel } from "../../../bench/model/kernel_spec.ts";
import type { MutantCase } from "../../testdata/cases.ts";
import type { BlackwellConfig } from "../cuda/blackwell/blackwell.ts";
import { cudaKernels } from "../cuda/cuda.ts";
import { groupedMatmul } from "../op.ts";
import type { GroupedPoint } from "../point.ts";

/** Edges of M, N and K, and problems of all sizes: empty, a row, a group alone, many. */
export const SHORT_LISTS: readonly GroupedPoint[] = [
  { m: "1+7+0+8+65", n: "8+72+64+136+72", k: "64+128+64+320+64" },
  { m: "63+129", n: "192+72", k: 64, layout: "nt-mmajor" },
  { m: 257, n: 64, k: 64 },
  {
    m: Array.from({ length: 12 }, (_, i) => i % 5).join("+"),
    n: 40,
    k: 64,
    layout: "nt-mmajor",
  },
].map((values) => groupedMatmul.point(values));

/** `device` with `units` multiprocessors, as far as kernels are told. */
export function ofUnits(device: Device, units: number): Device {
  return {
    info: { ...device.info, units },
    alloc: (bytes) => device.alloc(bytes),
    load: (binary) => device.load(binary),
    interval: () => device.interval(),
    synchronize: () => device.synchronize(),
    ...device.tensorMap === undefined
      ? {}
      : { tensorMap: device.tensorMap.bind(device) },
    [Symbol.dispose]() {},
  };
}

/** `kernel` with no more than `STAGES` stages, in the memory of as many as it would have. */
export function ofStages(
  kernel: Kernel<GroupedPoint>,
  STAGES: number,
): Kernel<GroupedPoint> {
  const shallow = (build: Build): Build =>
    Number(build.defines.STAGES) > STAGES
      ? { ...build, defines: { ...build.defines, STAGES } }
      : build;
  return {
    ...kernel,
    builds: (point, config) => kernel.builds(point, config).map(shallow),
    prepare: (site) =>
      kernel.prepare({
        ...site,
        program: (build, entry) => site.program(shallow(build), entry),
      }),
  };
}

/** Edges of M, N and K, and several tiles for each block. */
const SHORT = { m: "9+65", n: "136+72", k: "320+64" };
/** More slabs than there are stages, and an odd number of them. */
const DEEP = { m: "9+17", n: "136+776", k: "576+128" };
/** One tile that pays to be cut along K. */
const LONG = { m: 9, n: 72, k: 1536 };
/** The last blocks of a cluster of four have no rows of B, in a place without scales. */
const NARROW = { m: "9+3", n: "200+72", k: 64 };

const RING = { BM: 64, BN: 64, STAGES: 3, CLUSTER: 1 };
const BEST = { MAXN: 32, STEP: 32, WARPGROUPS: 4, PIECES: 1 };

function mutantCase(
  name: string,
  { list = SHORT, config = {}, units, stages = 3 }: {
    readonly list?: Values;
    readonly config?: Values;
    /** Multiprocessors that the kernel is told of. */
    readonly units: number;
    readonly stages?: number;
  },
  mutants: readonly string[],
): MutantCase<GroupedPoint> {
  const kernel = cudaKernels.find((kernel) => kernel.name === name)!;
  return {
    op: groupedMatmul,
    kernel: ofStages(kernel, stages),
    config,
    mutants,
    point: groupedMatmul.point(list),
    on: (device) => ofUnits(device, units),
    seeds: [1, 2, 3],
  };
}

/** Tiles that start within an atom of scales, rounds of the ring, ragged edges. */
const TILES = { m: "72+9", n: "40+264", k: "320+1344" };

/** The config of `blackwell` with none of its ideas but tensor maps, and then those of `config`. */
export function plainBlackwell(
  { MAXN, ...others }: { readonly MAXN: number } & Values,
): BlackwellConfig {
  return {
    MAXN,
    TMA: 1,
    PAIR: 1,
    SHARE: 1,
    STORE: 16,
    COUNTER: 0,
    STAGES: 0,
    EACH: 0,
    ...others,
  };
}

function blackwellCase(
  config: Values,
  mutants: readonly string[],
  list: Values = TILES,
  units = 4,
): MutantCase<GroupedPoint> {
  const all = plainBlackwell({ MAXN: 64, ...config });
  const options = { list, config: all, units };
  return { ...mutantCase("blackwell", options, mutants), arch: "sm_100a" };
}

/** By what is special about the case. */
export const mutantCases: Readonly<Record<string, MutantCase<GroupedPoint>>> = {
  "each problem alone": mutantCase("per-group", { units: 2 }, [
    ...["plain_early_product", "plain_early_refill", "plain_no_row_guard"],
    "store_no_column_guard",
  ]),
  "M-major": mutantCase("per-group", {
    units: 2,
    list: { ...SHORT, layout: "nt-mmajor" },
  }, ["store_second_row"]),
  "all problems": mutantCase("persistent", { units: 1 }, [
    "persistent_same_tiles",
  ]),
  ring: mutantCase("cluster", { units: 2, config: RING }, [
    ...["grouped_early_refill", "grouped_few_bytes", "grouped_early_copy"],
    ...["grouped_few_stages", "grouped_no_fence", "grouped_early_ticket"],
    ...["grouped_no_reset", "grouped_no_wait", "grouped_wrong_phase"],
    ...["grouped_no_release", "grouped_early_release"],
  ]),
  "ring of two blocks": mutantCase("cluster", {
    units: 2,
    config: { ...RING, CLUSTER: 2 },
  }, [
    ...["grouped_one_block", "grouped_early_exit", "grouped_early_start"],
    ...["grouped_many_bytes", "grouped_negative_rows", "grouped_few_arrivals"],
  ]),
  "ring of four blocks": mutantCase("cluster", {
    units: 4,
    list: NARROW,
    config: { ...RING, CLUSTER: 4 },
  }, ["grouped_no_scale_guard"]),
  best: mutantCase("best", { list: DEEP, units: 1, config: BEST }, [
    ...["best_early_refill", "best_few_bytes", "best_same_scales"],
    ...["best_few_arrivals", "best_no_launch_wait", "best_early_release"],
    ...["best_odd_scales", "best_same_columns", "best_no_wait"],
    ...["tokens_no_swizzle", "tokens_swapped", "tokens_no_end"],
    ...[
      "best_no_fence",
      "best_no_commit",
      "best_early_decode",
      "best_early_stage",
    ],
    ...["best_no_last_wait", "best_no_release", "best_no_last_release"],
    ...["best_early_store", "best_early_load"],
  ]),
  "best in pieces": mutantCase("best", {
    list: LONG,
    units: 3,
    config: BEST,
  }, ["best_lost_pieces", "best_same_piece", "best_all_pieces"]),
  "Blackwell's tensor cores": blackwellCase({ TMA: 0 }, [
    ...["blackwell_half_swizzle", "blackwell_half_shift"],
    ...["blackwell_late_wait", "blackwell_no_proxy_fence"],
    "blackwell_early_load",
  ]),
  "Blackwell's tensor maps": blackwellCase({ TMA: 2 }, [
    ...["blackwell_early_copy", "blackwell_half_bytes"],
  ]),
  "Blackwell's pairs": blackwellCase({ TMA: 1, PAIR: 2 }, [
    ...["blackwell_lone_commit", "blackwell_same_tokens"],
    "blackwell_same_rows",
  ]),
  "Blackwell's tokens for all": blackwellCase({ TMA: 2, SHARE: 4 }, [
    ...["blackwell_no_share", "blackwell_early_share"],
  ], { m: "72+9", n: "520+392", k: "64+1344" }),
  "Blackwell's counter of tiles": blackwellCase(
    { COUNTER: 1 },
    [
      ...["blackwell_same_phase", "blackwell_lost_steps", "blackwell_no_reset"],
    ],
    { m: "72+200+9", n: "40+264+136", k: "320+64+1344" },
    1,
  ),
  "Blackwell's counter for clusters": blackwellCase(
    { TMA: 2, SHARE: 2, COUNTER: 1 },
    ["blackwell_own_tile"],
    { m: "72+200+9", n: "40+264+136", k: "320+64+1344" },
    1,
  ),
  "Blackwell's stores of 32 bytes": blackwellCase({ STORE: 32 }, [
    "blackwell_odd_store",
  ], { m: "80+72", n: "40+8", k: 64, layout: "nt-mmajor" }),
};
