/**
 * Mutants of the CUDA kernels of `qmm`.
 *
 * @module
 */

import type { Values } from "../../../bench/model/grid.ts";
import type { MutantCase } from "../../testdata/cases.ts";
import { cudaKernels } from "../cuda/cuda.ts";
import { qmm } from "../op.ts";
import { type QmmPoint, readPoint } from "../point.ts";

/** A kernel of `cudaKernels`, at a point and a config. */
export interface CudaPlace {
  readonly kernel: string;
  readonly point: Values;
  readonly config: Values;
}

type Shape = readonly [m: number, n: number, k: number];
type Format = readonly [type: "f16" | "bf16", ...of: (string | number)[]];

function pointOf([m, n, k]: Shape, [type, mode, bits, group]: Format): Values {
  return mode === "affine"
    ? { m, n, k, type, mode, bits: bits!, group: group! }
    : { m, n, k, type, mode: mode! };
}

function tile(
  shape: Shape,
  format: Format,
  [BM, RT, WN, WK, KS, STAGES, CLUSTER]: readonly number[],
): CudaPlace {
  return {
    kernel: CLUSTER === 1 ? "qmm" : "qmm-splitk",
    point: pointOf(shape, format),
    config: {
      BM: BM!,
      RT: RT!,
      WN: WN!,
      WK: WK!,
      KS: KS!,
      STAGES: STAGES!,
      CLUSTER: CLUSTER!,
    },
  };
}

function dots(
  shape: Shape,
  format: Format,
  [ROWS, COLS, THREADS, UNROLL, CLUSTER]: readonly number[],
): CudaPlace {
  return {
    kernel: "qmv",
    point: { ...pointOf(shape, format), layout: UNROLL === 1 ? "nt" : "nn" },
    config: {
      ROWS: ROWS!,
      COLS: COLS!,
      THREADS: THREADS!,
      UNROLL: UNROLL!,
      CLUSTER: CLUSTER!,
    },
  };
}

function warpgroups(
  shape: Shape,
  format: Format,
  [BM, ROWS, SETS, PLACES, CLUSTER]: readonly number[],
): CudaPlace {
  return {
    kernel: "qmm-wgmma",
    point: pointOf(shape, format),
    config: {
      BM: BM!,
      ROWS: ROWS!,
      SETS: SETS!,
      PLACES: PLACES!,
      CLUSTER: CLUSTER!,
    },
  };
}

/** Two slices, the last step ragged; scales one by one, those of slice 1 from a fourth on. */
export const SPLIT: CudaPlace = tile(
  [3, 20, 1344],
  ["f16", "affine", 4, 64],
  [8, 2, 2, 2, 128, 2, 2],
);
/** A warp a phase; scales in chunks, slices from inside of one; 16 units for three blocks. */
export const FOLDED: CudaPlace = tile(
  [1, 37, 1792],
  ["bf16", "nvfp4"],
  [1, 4, 1, 4, 128, 2, 3],
);
/** Codes across words, rows on 4 bytes. */
export const NARROW: CudaPlace = tile(
  [9, 35, 672],
  ["bf16", "affine", 5, 32],
  [16, 2, 2, 2, 256, 2, 1],
);
/** Two slices of K; outputs and tokens that fill no block. */
export const WIDE: CudaPlace = dots(
  [3, 13, 4160],
  ["bf16", "affine", 6, 64],
  [4, 4, 128, 1, 2],
);
/** Half a unit at the end; two scales a unit. */
export const HALF: CudaPlace = dots(
  [2, 6, 2096],
  ["f16", "nvfp4"],
  [2, 4, 128, 1, 1],
);
/** x · W, columns that fill no block. */
export const FLAT: CudaPlace = dots(
  [3, 96, 150],
  ["f16", "affine", 5, 32],
  [4, 64, 128, 2, 4],
);

/** One scale a row, over steps, slices and phases. */
const CHANNEL_TILE: CudaPlace = tile(
  [11, 35, 1152],
  ["bf16", "affine", 4, "channel"],
  [16, 2, 2, 2, 128, 2, 2],
);
/** The same, as dot products. */
const CHANNEL_DOTS: CudaPlace = dots(
  [3, 13, 1184],
  ["f16", "affine", 4, "channel"],
  [4, 4, 128, 1, 1],
);
/** The same, over more spans than places. */
const CHANNEL_SPANS: CudaPlace = warpgroups(
  [17, 70, 1152],
  ["f16", "affine", 4, "channel"],
  [32, 64, 1, 2, 1],
);

/** Slices of K: one step, unequal ones, a last one of a step and a part; idle warps too. */
export const tilePlaces: readonly CudaPlace[] = [
  ...[SPLIT, FOLDED, NARROW, CHANNEL_TILE],
  tile([1, 20, 1120], ["f16", "affine", 8, "channel"], [1, 2, 2, 2, 128, 2, 1]),
  tile([37, 70, 352], ["f16", "affine", 2, 32], [64, 2, 4, 2, 128, 2, 1]),
  tile([1, 7, 1856], ["bf16", "affine", 2, 64], [1, 2, 1, 8, 128, 1, 2]),
  tile([5, 61, 800], ["bf16", "affine", 3, 32], [8, 4, 1, 4, 256, 1, 1]),
  tile([11, 50, 1280], ["f16", "affine", 3, 128], [16, 2, 2, 4, 128, 1, 3]),
  tile([40, 33, 832], ["bf16", "affine", 4, 32], [64, 1, 4, 2, 256, 1, 2]),
  // Scales of a row are whole 16-byte chunks.
  tile([4, 18, 1024], ["bf16", "affine", 4, 128], [8, 2, 2, 8, 128, 1, 1]),
  tile([1, 21, 960], ["f16", "affine", 5, 64], [1, 2, 2, 2, 128, 1, 8]),
  tile([9, 40, 704], ["f16", "affine", 6, 64], [16, 2, 2, 2, 256, 2, 1]),
  tile([3, 64, 1824], ["bf16", "affine", 6, 32], [8, 4, 1, 8, 128, 1, 2]),
  tile([13, 66, 1248], ["f16", "affine", 8, 32], [16, 4, 2, 4, 128, 1, 3]),
  tile([10, 30, 960], ["bf16", "affine", 8, 64], [16, 2, 1, 8, 128, 1, 1]),
  tile([7, 41, 2080], ["f16", "mxfp4"], [8, 2, 2, 4, 128, 2, 4]),
  tile([12, 55, 992], ["bf16", "mxfp4"], [16, 4, 1, 8, 128, 1, 1]),
  tile([27, 20, 544], ["f16", "mxfp8"], [32, 2, 2, 2, 128, 3, 1]),
  tile([6, 37, 1568], ["bf16", "mxfp8"], [8, 2, 2, 2, 256, 2, 3]),
  // As many groups of warps as K has steps, nearly: most have none in the last round.
  tile([1, 45, 2624], ["bf16", "affine", 4, 64], [1, 2, 1, 10, 128, 3, 1]),
  tile([1, 35, 2080], ["f16", "affine", 4, 32], [1, 2, 1, 16, 128, 2, 1]),
  tile([18, 66, 1856], ["bf16", "affine", 4, 64], [24, 4, 1, 4, 128, 4, 1]),
  tile([21, 130, 1664], ["f16", "affine", 4, 64], [24, 2, 4, 2, 128, 2, 5]),
  tile([14, 35, 624], ["f16", "nvfp4"], [16, 2, 2, 2, 128, 2, 2]),
];

/** x · Wᵀ: long K for clusters, whose blocks have 64 units of 32 codes at least. */
export const qmvPlaces: readonly CudaPlace[] = [
  ...[WIDE, HALF, CHANNEL_DOTS],
  dots([1, 5, 640], ["f16", "affine", 2, 128], [1, 4, 128, 1, 1]),
  dots([3, 13, 4192], ["bf16", "affine", 3, 32], [4, 8, 128, 1, 2]),
  dots([2, 9, 4160], ["f16", "affine", 4, 64], [2, 8, 256, 1, 1]),
  dots([7, 11, 192], ["bf16", "affine", 5, 64], [8, 4, 128, 1, 1]),
  dots([19, 6, 96], ["bf16", "affine", 8, 32], [8, 4, 128, 1, 1]),
  dots([1, 5, 16160], ["bf16", "mxfp4"], [1, 4, 128, 1, 8]),
  dots([4, 6, 8096], ["f16", "mxfp8"], [4, 4, 128, 1, 4]),
];

/** x · W: columns that fill no tile, rows that fill no slice. */
export const qvmPlaces: readonly CudaPlace[] = [
  FLAT,
  dots([2, 160, 61], ["bf16", "affine", 4, "channel"], [2, 64, 128, 2, 1]),
  dots([1, 96, 70], ["bf16", "affine", 2, 32], [1, 128, 128, 2, 1]),
  dots([4, 384, 77], ["f16", "affine", 3, 128], [4, 256, 256, 4, 2]),
  dots([13, 192, 131], ["bf16", "affine", 4, 64], [8, 64, 128, 2, 2]),
  dots([2, 64, 61], ["bf16", "affine", 6, 64], [2, 64, 256, 2, 1]),
  dots([1, 128, 201], ["f16", "affine", 8, 128], [1, 64, 128, 2, 8]),
  dots([3, 160, 300], ["f16", "mxfp4"], [4, 128, 128, 4, 4]),
  dots([6, 32, 65], ["bf16", "mxfp8"], [8, 64, 128, 4, 1]),
  dots([2, 144, 129], ["bf16", "nvfp4"], [2, 64, 128, 2, 2]),
];

function columns(
  shape: Shape,
  format: Format,
  config: readonly number[],
): CudaPlace {
  const place = warpgroups(shape, format, config);
  return { ...place, point: { ...place.point, layout: "nn" } };
}

/** Two sets in each of two blocks; stages of four steps, used three times; more spans than places. */
export const SETS: CudaPlace = warpgroups(
  [19, 70, 8896],
  ["bf16", "affine", 4, 64],
  [32, 64, 2, 2, 2],
);
/** Codes across words, several scales a step, rows that end within a span. */
export const ACROSS: CudaPlace = warpgroups(
  [17, 64, 1216],
  ["f16", "affine", 3, 32],
  [32, 64, 1, 2, 1],
);

/** x · W in two blocks, more spans than places, the last one short; columns that fill no tile. */
export const COLUMNS: CudaPlace = columns(
  [19, 192, 1000],
  ["bf16", "affine", 4, 32],
  [32, 128, 1, 2, 2],
);

/** Scales of x · W in chunks, more spans than the warps that copy have filled places. */
const CHUNKS: CudaPlace = columns(
  [9, 512, 2056],
  ["bf16", "affine", 4, 64],
  [16, 64, 2, 3, 1],
);

/** Codes of x · W across words, more spans than places. */
const PACKED: CudaPlace = columns(
  [9, 256, 1032],
  ["bf16", "affine", 5, 64],
  [16, 128, 2, 2, 1],
);
/** One scale a row of x · W. */
const CHANNEL_COLUMNS: CudaPlace = columns(
  [17, 192, 712],
  ["bf16", "affine", 4, "channel"],
  [32, 64, 1, 2, 2],
);

/** Mailboxes where stages were, each used more than once. */
export const LATE: CudaPlace = warpgroups(
  [200, 128, 2048],
  ["bf16", "affine", 4, 64],
  [256, 128, 1, 2, 2],
);

/** Scales that a warp decodes once for all lanes. */
const DECODED: CudaPlace = warpgroups(
  [11, 37, 1040],
  ["bf16", "nvfp4"],
  [16, 64, 1, 2, 1],
);

/** Stages of two steps that are used more than twice; the last one is half empty. */
const REFILLED: CudaPlace = warpgroups(
  [150, 64, 1216],
  ["bf16", "affine", 2, 64],
  [176, 64, 1, 2, 1],
);

/** Whole spans and tiles: copies without bounds checks, through three places, each used twice and more. */
export const EVEN: CudaPlace = warpgroups(
  [19, 128, 3584],
  ["bf16", "affine", 4, 64],
  [32, 64, 2, 3, 1],
);

/** The same with two groups in each step. */
const EVEN_HALVES: CudaPlace = warpgroups(
  [12, 64, 1536],
  ["f16", "affine", 4, 32],
  [16, 64, 1, 2, 2],
);

/** Two codes of a lane's scales, three of four octets looked up. */
const EVEN_MXFP4: CudaPlace = warpgroups(
  [18, 64, 1024],
  ["bf16", "mxfp4"],
  [32, 64, 1, 3, 1],
);

/** The same in each width, mode and size of groups. */
export const evenPlaces: readonly CudaPlace[] = [
  ...[EVEN, EVEN_HALVES],
  warpgroups([9, 64, 1536], ["f16", "affine", 2, 64], [16, 64, 1, 2, 2]),
  warpgroups([5, 128, 1024], ["bf16", "affine", 3, 32], [16, 128, 1, 2, 1]),
  warpgroups([17, 64, 1024], ["bf16", "affine", 4, 128], [32, 64, 1, 3, 1]),
  warpgroups([7, 64, 1024], ["f16", "affine", 5, 64], [16, 64, 1, 2, 1]),
  warpgroups([20, 128, 1536], ["bf16", "affine", 6, 128], [32, 64, 3, 2, 1]),
  warpgroups([11, 64, 2048], ["bf16", "affine", 8, 64], [16, 64, 2, 2, 2]),
  EVEN_MXFP4,
  warpgroups([6, 64, 1024], ["f16", "mxfp8"], [16, 64, 1, 2, 1]),
  warpgroups([19, 64, 2048], ["bf16", "nvfp4"], [32, 64, 2, 2, 1]),
];

/** Parts that are no whole spans but for the last one. */
export const lastPlaces: readonly CudaPlace[] = [
  warpgroups([17, 64, 2048], ["bf16", "affine", 4, 64], [32, 64, 1, 2, 3]),
  warpgroups([12, 64, 1152], ["f16", "affine", 3, 64], [16, 64, 2, 2, 1]),
  warpgroups([7, 128, 1664], ["bf16", "nvfp4"], [16, 128, 1, 2, 3]),
  warpgroups([20, 64, 2176], ["f16", "mxfp8"], [32, 64, 2, 3, 2]),
];

/** Each way to decode and each number of warpgroups; rows of codes and scales that start anywhere. */
export const wgmmaPlaces: readonly CudaPlace[] = [
  ...[SETS, ACROSS, LATE, DECODED, CHANNEL_SPANS, REFILLED],
  ...[...evenPlaces, ...lastPlaces],
  warpgroups([70, 64, 1088], ["bf16", "affine", 2, 64], [128, 64, 1, 2, 2]),
  warpgroups([20, 64, 3136], ["bf16", "affine", 8, "channel"], [
    ...[32, 64, 2, 2, 2],
  ]),
  warpgroups([18, 67, 1152], ["f16", "affine", 4, 128], [32, 64, 2, 2, 1]),
  warpgroups([33, 130, 640], ["bf16", "affine", 8, 128], [64, 128, 1, 2, 1]),
  warpgroups([5, 66, 1344], ["bf16", "affine", 5, 64], [16, 64, 1, 2, 3]),
  warpgroups([9, 31, 1536], ["f16", "affine", 6, 128], [16, 64, 3, 2, 1]),
  warpgroups([20, 67, 2208], ["f16", "affine", 2, 32], [32, 64, 4, 2, 2]),
  warpgroups([17, 40, 992], ["bf16", "affine", 3, 32], [32, 64, 1, 2, 1]),
  warpgroups([31, 65, 1056], ["bf16", "mxfp4"], [32, 64, 1, 2, 2]),
  warpgroups([20, 19, 1280], ["f16", "mxfp4"], [32, 64, 2, 2, 1]),
  warpgroups([32, 37, 1056], ["bf16", "mxfp8"], [32, 64, 1, 2, 1]),
  warpgroups([17, 64, 1120], ["f16", "mxfp8"], [32, 64, 1, 2, 2]),
  warpgroups([18, 70, 2048], ["f16", "nvfp4"], [32, 128, 2, 2, 1]),
  warpgroups([65, 64, 1088], ["bf16", "mxfp4"], [128, 64, 1, 2, 1]),
];

/** x · W: each width, group and mode, scales one by one, and each number of warpgroups. */
export const columnPlaces: readonly CudaPlace[] = [
  ...[COLUMNS, CHUNKS, PACKED, CHANNEL_COLUMNS],
  columns([17, 384, 520], ["f16", "affine", 3, 64], [32, 64, 2, 2, 1]),
  columns([9, 256, 264], ["bf16", "affine", 3, 32], [16, 256, 1, 2, 1]),
  columns([33, 256, 456], ["bf16", "affine", 3, 128], [64, 128, 1, 2, 2]),
  columns([12, 256, 392], ["f16", "affine", 5, 128], [16, 64, 1, 3, 1]),
  columns([20, 384, 776], ["f16", "affine", 6, 32], [32, 64, 3, 2, 1]),
  columns([9, 256, 328], ["bf16", "affine", 6, 64], [16, 256, 1, 2, 1]),
  columns([18, 256, 520], ["f16", "affine", 8, "channel"], [32, 128, 2, 2, 1]),
  columns([9, 384, 264], ["f16", "affine", 3, "channel"], [16, 64, 1, 2, 1]),
  columns([17, 256, 520], ["f16", "affine", 4, 128], [32, 128, 2, 2, 1]),
  columns([40, 128, 200], ["bf16", "affine", 8, 64], [64, 128, 1, 2, 1]),
  columns([18, 192, 392], ["f16", "affine", 8, 32], [32, 128, 1, 2, 1]),
  columns([70, 256, 264], ["bf16", "affine", 2, 128], [128, 128, 1, 2, 1]),
  columns([9, 320, 400], ["f16", "affine", 2, 32], [16, 64, 3, 2, 1]),
  columns([9, 256, 1096], ["bf16", "affine", 4, 128], [16, 64, 3, 2, 1]),
  columns([9, 256, 456], ["f16", "affine", 8, 32], [16, 256, 1, 2, 1]),
  columns([17, 256, 776], ["bf16", "mxfp4"], [32, 128, 1, 2, 3]),
  columns([12, 128, 136], ["f16", "mxfp4"], [16, 128, 1, 2, 1]),
  columns([33, 128, 264], ["bf16", "mxfp8"], [64, 64, 1, 2, 1]),
  columns([10, 256, 256], ["f16", "mxfp8"], [16, 128, 1, 2, 1]),
  columns([20, 192, 520], ["bf16", "nvfp4"], [32, 64, 4, 2, 1]),
  columns([16, 64, 72], ["f16", "nvfp4"], [16, 64, 1, 2, 1]),
  columns([16, 256, 264], ["f16", "nvfp4"], [16, 64, 1, 2, 1]),
];

function mutantCase(
  { kernel: name, point, config }: CudaPlace,
  mutants: readonly string[],
): MutantCase<QmmPoint> {
  const kernel = cudaKernels.find((kernel) => kernel.name === name)!;
  return { op: qmm, kernel, point: readPoint(point), config, mutants };
}

/** By what is special about the case. */
export const mutantCases: Readonly<Record<string, MutantCase<QmmPoint>>> = {
  "two slices": mutantCase(SPLIT, [
    ...["qmm_early_step", "qmm_early_refill", "qmm_shared_barrier"],
    ...["qmm_no_wait", "qmm_late_wait", "qmm_skip_stage"],
    ...["qmm_no_scale_barrier", "qmm_early_sums", "qmm_no_sum_barrier"],
    ...["qmm_wrong_group", "qmm_no_chunk_guard", "qmm_no_row_guard"],
    ...["qmm_same_scale", "octet_wrong_order", "octet_no_offset"],
    ...["mailbox_early_send", "mailbox_no_arrive", "mailbox_no_fence"],
    ...["mailbox_few_bytes", "mailbox_no_receive", "mailbox_same_place"],
    "qmm_no_launch_wait",
  ]),
  "scales in chunks": mutantCase(FOLDED, [
    ...["qmm_no_warp_barrier", "qmm_no_scale_wait", "qmm_no_skip"],
    ...["qmm_no_token_guard", "qmm_same_group", "mailbox_many_bytes"],
  ]),
  "codes across words": mutantCase(NARROW, [
    "qmm_no_word_guard",
    "qmm_no_shift",
  ]),
  "rows of W": mutantCase(WIDE, [
    ...["dots_no_barrier", "qmv_many_bytes", "qmv_long_slice"],
    ...["qmv_no_shift", "octet_adjacent", "qmv_no_launch_wait"],
  ]),
  "half a unit": mutantCase(HALF, ["qmv_no_word_guard", "qmv_same_scale"]),
  "sets of warpgroups": mutantCase(SETS, [
    ...["warpgroup_no_wait", "warpgroup_early_refill"],
    ...["warpgroup_few_arrivals", "warpgroup_late_copies"],
    ...["warpgroup_no_warp_barrier", "warpgroup_no_sum_barrier"],
    ...["warpgroup_early_sums", "warpgroup_same_scale"],
    ...["warpgroup_no_code_guard", "warpgroup_early_send"],
    ...["warpgroup_no_receive", "warpgroup_no_row_barrier"],
    ...["warpgroup_no_launch_wait", "warpgroup_late_wait"],
    "warpgroup_no_finish",
  ]),
  "decoding for warpgroups": mutantCase(ACROSS, [
    ...["warpgroup_no_lane_shift", "warpgroup_no_scale_guard"],
    ...["warpgroup_late_wait", "warpgroup_no_finish"],
  ]),
  "stages used again": mutantCase(REFILLED, [
    ...["warpgroup_early_refill", "warpgroup_few_arrivals"],
    ...["warpgroup_same_half", "warpgroup_no_wait"],
  ]),
  "copies without bounds checks": mutantCase(EVEN, [
    ...["warpgroup_late_copies", "warpgroup_no_warp_barrier"],
    ...["warpgroup_same_scale", "warpgroup_one_place"],
    ...["warpgroup_early_refill", "warpgroup_no_wait"],
  ]),
  "copies without bounds checks, two groups a step": mutantCase(EVEN_HALVES, [
    "warpgroup_same_words",
  ]),
  "mail where stages were": mutantCase(LATE, ["warpgroup_early_mail"]),
  "columns for warpgroups": mutantCase(COLUMNS, [
    ...["columns_no_row_guard", "columns_no_wait", "warpgroup_early_weights"],
    ...["warpgroup_few_reads", "columns_same_row", "columns_early_pairs"],
    "columns_no_pairs",
  ]),
  "columns with chunks of scales": mutantCase(CHUNKS, [
    ...["columns_no_wait", "warpgroup_early_weights", "warpgroup_few_reads"],
    "columns_same_row",
  ]),
  "codes of columns across words": mutantCase(PACKED, [
    ...["columns_early_read", "columns_no_wait", "columns_same_row"],
  ]),
  "one scale a row, columns": mutantCase(CHANNEL_COLUMNS, [
    "columns_no_scale_guard",
  ]),
  "decoded scales, a table of codes": mutantCase(DECODED, [
    ...["warpgroup_early_scales", "warpgroup_same_entry"],
    ...["warpgroup_same_code", "warpgroup_late_table"],
    "warpgroup_short_scales",
  ]),
  "decoded scales, two of a lane": mutantCase(EVEN_MXFP4, [
    ...["warpgroup_early_scales", "warpgroup_same_entry"],
    "warpgroup_short_scales",
  ]),
  "one scale a row": mutantCase(CHANNEL_TILE, ["qmm_channel_groups"]),
  "one scale a row, dot products": mutantCase(CHANNEL_DOTS, [
    "qmv_channel_groups",
  ]),
  "one scale a row, warpgroups": mutantCase(CHANNEL_SPANS, [
    "warpgroup_channel_bare",
  ]),
  "columns of W": mutantCase(FLAT, ["qvm_all_lanes", "qvm_no_column_guard"]),
};
