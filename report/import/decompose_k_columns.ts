/**
 * Lists the columns of the decompose-k measurements, in order, with the kernel of each. The reader and the writer of such files both follow this one table.
 *
 * @module
 */

/** The kernel of a column of times. */
export type Role =
  | "eager"
  | "compiled"
  | "custom"
  | "unfused"
  | "standalone"
  | "tlxUnfused"
  | "tlx";

/** A kernel of the measurements. */
export interface SeedKernel {
  readonly role: Role;
  /** The column of its time in milliseconds. */
  readonly column: string;
  /** Its name in published rows. */
  readonly published: string;
  /** Ours that stand in the same column, the preferred first. */
  readonly ours: readonly string[];
}

/** One of the two kinds of file. */
export interface SeedForm {
  readonly epilogue: "relu" | "none";
  readonly kernels: readonly SeedKernel[];
  /** Ratios, as column, numerator and denominator. */
  readonly ratios: readonly (readonly [string, Role, Role])[];
  /** Every column in order, without those of TLX. */
  readonly columns: readonly string[];
  /** The columns that files with TLX have at the end. */
  readonly tlxColumns: readonly string[];
}

/** Who found the custom op's kernel, and what it is. */
export const CUSTOM_COLUMNS = [
  "custom_op_autotune_name",
  "custom_op_best_impl",
  "custom_op_k_splits",
  "custom_op_choice_name",
] as const;

/** Their names in a `config`. */
export const CUSTOM_TUNABLES = [
  "AUTOTUNE",
  "IMPL",
  "K_SPLITS",
  "CHOICE",
] as const;

/** The standalone kernel's config; `tlx_` in place of `standalone_` is that of TLX. */
export const TILE_COLUMNS = [
  "standalone_split_k",
  "standalone_block_m",
  "standalone_block_n",
  "standalone_block_k",
] as const;

/** Their names in a `config`, ours included. */
export const TILE_TUNABLES = ["SPLIT", "BM", "BN", "BK"] as const;

/** The columns of the config of a TLX kernel. */
export const TLX_TILE_COLUMNS: readonly string[] = TILE_COLUMNS.map((name) =>
  name.replace("standalone", "tlx")
);

const POINT = ["suite", "m", "n", "k", "dtype"] as const;
const LIBRARY = ["cublas", "openblas"] as const;

/** A ReLU after the GEMM. */
export const EPILOGUE_FORM: SeedForm = form("relu", {
  kernels: [
    ["eager", "eager_ms", "torch.mm+relu", LIBRARY],
    ["compiled", "compiled_ms", "compiled-torch.mm+relu", []],
    ["custom", "custom_op_mm_relu_ms", "custom-op-mm+relu", []],
    ["unfused", "decompose_k_unfused_ms", "decomposeK+relu", [
      "decompose-k-unfused",
    ]],
    ["standalone", "decompose_k_fused_ms", "decomposeK-fused-relu", [
      "decompose-k",
    ]],
    ["tlxUnfused", "tlx_unfused_ms", "TLX-decomposeK+relu", []],
    ["tlx", "tlx_fused_ms", "TLX-decomposeK-fused-relu", []],
  ],
  ratios: [
    ["custom_op_speedup_vs_eager", "eager", "custom"],
    ["custom_op_speedup_vs_compiled", "compiled", "custom"],
    ["decompose_k_fused_speedup_vs_eager", "eager", "standalone"],
    ["decompose_k_fused_speedup_vs_compiled", "compiled", "standalone"],
    ["decompose_k_fused_vs_unfused_speedup", "unfused", "standalone"],
    ["tlx_fused_speedup_vs_eager", "eager", "tlx"],
    ["tlx_fused_speedup_vs_compiled", "compiled", "tlx"],
    ["tlx_fused_speedup_vs_decompose_k_fused", "standalone", "tlx"],
    ["tlx_fused_vs_unfused_speedup", "tlxUnfused", "tlx"],
  ],
});

/** The GEMM alone. */
export const PLAIN_FORM: SeedForm = form("none", {
  kernels: [
    ["eager", "eager_ms", "torch.mm", LIBRARY],
    ["compiled", "compiled_ms", "compiled-torch.mm", []],
    ["custom", "custom_op_mm_ms", "custom-op-mm", []],
    ["standalone", "decompose_k_ms", "decomposeK", ["decompose-k"]],
    ["tlx", "tlx_ms", "TLX-decomposeK", []],
  ],
  ratios: [
    ["custom_op_speedup_vs_eager", "eager", "custom"],
    ["custom_op_speedup_vs_compiled", "compiled", "custom"],
    ["decompose_k_speedup_vs_eager", "eager", "standalone"],
    ["decompose_k_speedup_vs_compiled", "compiled", "standalone"],
    ["tlx_speedup_vs_eager", "eager", "tlx"],
    ["tlx_speedup_vs_compiled", "compiled", "tlx"],
    ["tlx_speedup_vs_decompose_k", "standalone", "tlx"],
  ],
});

/** Element types, by what these files and AITER's call them. */
export const TORCH_TYPES: Readonly<Record<string, string>> = {
  bfloat16: "bf16",
  float16: "f16",
  float32: "f32",
};

/** Bytes of an element, by type. */
export const TYPE_BYTES: Readonly<Record<string, number>> = {
  bf16: 2,
  f16: 2,
  f32: 4,
};

type Columns = readonly (readonly [Role, string, string, readonly string[]])[];

function form(
  epilogue: SeedForm["epilogue"],
  { kernels, ratios }: { kernels: Columns; ratios: SeedForm["ratios"] },
): SeedForm {
  const times = kernels.map(([, column]) => column);
  const factors = ratios.map(([column]) => column);
  const ofTlx = (column: string) => column.startsWith("tlx_");
  const notOfTlx = (column: string) => !ofTlx(column);
  return {
    epilogue,
    kernels: kernels.map(([role, column, published, ours]) => ({
      role,
      column,
      published,
      ours,
    })),
    ratios,
    columns: [
      ...POINT,
      ...times.filter(notOfTlx),
      ...factors.filter(notOfTlx),
      ...CUSTOM_COLUMNS,
      ...TILE_COLUMNS,
    ],
    tlxColumns: [
      ...times.filter(ofTlx),
      ...factors.filter(ofTlx),
      ...TLX_TILE_COLUMNS,
    ],
  };
}
