/**
 * Reads the files that the processes of a captured program wrote, and joins them.
 *
 * @module
 */

import {
  array,
  boolean,
  type InferOutput,
  number,
  object,
  picklist,
  string,
} from "valibot";
import { join } from "node:path";
import { readIfThere } from "../../bench/files/disk.ts";
import { parseJson } from "../../bench/files/json_file.ts";
import type { Captured, CapturedGemm } from "../../bench/model/captured.ts";
import { UserError } from "../../bench/model/errors.ts";
import { pointOfGemm } from "./points.ts";

const gemmSchema = object({
  source: picklist(["cublas", "cublaslt", "torch", "triton"]),
  name: string(),
  m: number(),
  n: number(),
  k: number(),
  batch: number(),
  lda: number(),
  ldb: number(),
  ldc: number(),
  a: number(),
  b: number(),
  c: number(),
  compute: number(),
  layout: picklist(["nn", "nt", "tn", "tt"]),
  epilogue: number(),
  scale_a: number(),
  scale_b: number(),
  beta: number(),
  groups: number(),
  phase: string(),
  calls: number(),
  graph_calls: number(),
  time_ns: number(),
  kernels: array(string()),
});

const partSchema = object({
  pid: number(),
  /** Whether the record is complete: the window is over. */
  done: boolean(),
  clock: picklist(["cupti", "events", "none"]),
  /** Why CUPTI does not work; empty if it works. */
  cupti: string(),
  device: string(),
  major: number(),
  minor: number(),
  window_ns: number(),
  wall_ns: number(),
  busy_ns: number(),
  /** The number of steps that the program reported, such as tokens of each sequence. */
  steps: number(),
  /** The number of records that CUPTI lost. */
  dropped: number(),
  /** Whether there were more GEMMs than the recorder has room for. */
  full: boolean(),
  gemms: array(gemmSchema),
  other: array(
    object({ name: string(), calls: number(), time_ns: number() }),
  ),
});

/** The record of a process. Types, epilogues and scales are still numbers of CUDA's enums. */
export type Part = InferOutput<typeof partSchema>;
type RawGemm = Part["gemms"][number];

/** The records of a program's processes, and how far those came. */
export interface Parts {
  readonly parts: readonly Part[];
  /** Whether a process loaded the recorder. */
  readonly isLoaded: boolean;
  /** Whether a process started CUDA. */
  readonly hasCuda: boolean;
  /** What could not be recorded. */
  readonly notes: readonly string[];
}

/** Reads the records that are in `folder` now. @throws {UserError} For a damaged file. */
export function readParts(folder: string): Parts {
  const names = [...Deno.readDirSync(folder)].map(({ name }) => name);
  const parts = names.filter((name) => name.endsWith(".json")).toSorted()
    .flatMap((name) => {
      const path = join(folder, name);
      const text = readIfThere(path);
      if (text === undefined) return [];
      return [parseJson(
        partSchema,
        text,
        (why) =>
          new UserError(`Cannot read ${path}: ${why}; run the program again`),
      )];
    });
  return {
    parts,
    isLoaded: names.includes("loaded"),
    hasCuda: names.includes("cuda"),
    notes: names.filter((name) => name.endsWith(".note")).flatMap((name) =>
      (readIfThere(join(folder, name)) ?? "").trim().split("\n")
    ),
  };
}

/** cudaDataType_t, in library_types.h. */
const TYPES: Readonly<Record<number, string>> = {
  0: "f32",
  1: "f64",
  2: "f16",
  3: "i8",
  4: "c64",
  5: "c128",
  6: "c32",
  8: "u8",
  10: "i32",
  12: "u32",
  14: "bf16",
  28: "e4m3",
  29: "e5m2",
  30: "e8m0",
  31: "e2m3",
  32: "e3m2",
  33: "e2m1",
};

/** cublasComputeType_t, in cublas_api.h. */
const COMPUTES: Readonly<Record<number, string>> = {
  64: "f16",
  65: "f16",
  68: "f32",
  69: "f32",
  70: "f64",
  71: "f64",
  72: "i32",
  73: "i32",
  74: "f32-fast-f16",
  75: "f32-fast-bf16",
  77: "tf32",
  78: "f32-bf16x9",
  79: "f64-emulated",
};

/** The recorder's number for an epilogue of a compiled kernel that cuBLASLt does not have. */
const FUSED = 1 << 20;

/** The bits of cublasLtEpilogue_t, in cublasLt.h. */
const EPILOGUE = { relu: 2, bias: 4, drelu: 8, gelu: 32, dgelu: 64, aux: 128 };

function epilogueName(code: number): string {
  if (code <= 1) return "none";
  if (code === FUSED) return "fused";
  const known = EPILOGUE.relu | EPILOGUE.bias | EPILOGUE.gelu | EPILOGUE.aux;
  if ((code & ~known) !== 0) return `cublaslt-epilogue-${code}`;
  return (["bias", "relu", "gelu", "aux"] as const)
    .filter((name) => (code & EPILOGUE[name]) !== 0).join("+");
}

/** The names of cublasLtMatmulMatrixScale_t, in cublasLt.h. A record has -1 for no scale. */
const SCALES: Readonly<Record<number, string>> = {
  0: "tensor",
  1: "vec16-ue4m3",
  2: "vec32-ue8m0",
  3: "row",
  4: "vec128",
  5: "block128",
  6: "tensor-of-batch",
};

/**
 * Names the scales of A and B: as the op `scaled-matmul` does if it has them, else as cuBLASLt
 * does.
 */
function scaleName({ scale_a, scale_b }: RawGemm): string | undefined {
  if (scale_a < 0 && scale_b < 0) return undefined;
  const [a, b] = [scale_a, scale_b].map((code) =>
    code < 0 ? "none" : SCALES[code] ?? `cublaslt-scale-${code}`
  );
  if (a === b) return a!;
  return a === "vec128" && b === "block128" ? "block128" : `${a}/${b}`;
}

function typeName(code: number): string {
  return TYPES[code] ?? `cuda-type-${code}`;
}

/** Returns `raw` with names instead of CUDA's numbers, and the op that computes it. */
function named(raw: RawGemm): CapturedGemm {
  const scale = scaleName(raw);
  const { m, n, k, batch, layout, lda, ldb, ldc, phase, groups } = raw;
  const gemm = {
    source: raw.source,
    name: groups > 1 ? `${raw.name} (${groups} groups)` : raw.name,
    m,
    n,
    k,
    batch,
    a: typeName(raw.a),
    b: typeName(raw.b),
    c: typeName(raw.c),
    compute: COMPUTES[raw.compute] ?? `cublas-compute-${raw.compute}`,
    layout,
    lda,
    ldb,
    ldc,
    epilogue: epilogueName(raw.epilogue),
    ...(scale === undefined ? {} : { scale }),
    beta_nonzero: raw.beta < 0 ? null : raw.beta > 0,
    phase,
    calls: raw.calls,
    graph_calls: raw.graph_calls,
    time_us: raw.time_ns / 1000,
    kernels: raw.kernels.map(clipped),
  };
  const point = odd(raw) ?? pointOfGemm(gemm);
  return typeof point === "string"
    ? { op: "", why_no_op: point, ...gemm }
    : { op: point.op, why_no_op: "", ...gemm };
}

/** Returns why no op computes a GEMM, if its sizes and types do not show it. */
function odd({ groups, name }: RawGemm): string | undefined {
  if (name.includes("grouped_mm")) {
    return "the sizes of its groups are in device memory";
  }
  if (groups > 1) return `its ${groups} shapes are one call`;
  return groups < 0 ? "its matrices are stored in tiles" : undefined;
}

/**
 * Matches names of kernels that multiply matrices, except for those that {@linkcode OTHER_KERNEL}
 * matches.
 */
const GEMM_KERNEL =
  /gemm|nvjet|cutlass|wgmma|xmma|matmul|gemv|splitk|triton_\w*mm|_mm_kernel/i;
const OTHER_KERNEL = /fmha|flash|sdpa|attention|conv|fprop|dgrad|wgrad/i;

function isGemm(kernel: string): boolean {
  return GEMM_KERNEL.test(kernel) && !OTHER_KERNEL.test(kernel);
}

/** The captured program, and the seconds that it ran. */
export interface ProgramTime {
  readonly program: readonly string[];
  readonly wall_s: number;
}

/** Joins the records of all processes into the content of `captured.json`. */
export function joined(
  { parts, notes }: Pick<Parts, "parts" | "notes">,
  { program, wall_s }: ProgramTime,
): Captured {
  const gemms = new Map<string, CapturedGemm>();
  const other = new Map<string, Captured["other"][number]>();
  const addOther = (kernel: string, calls: number, time_us: number) => {
    const name = clipped(kernel);
    const old = other.get(name);
    other.set(name, {
      name,
      is_gemm: isGemm(name),
      calls: calls + (old?.calls ?? 0),
      time_us: time_us + (old?.time_us ?? 0),
    });
  };
  for (const part of parts) {
    for (const raw of part.gemms) {
      // Other kernels of a call of PyTorch, whose GEMM is recorded as a call of cuBLAS.
      if (raw.calls === 0) {
        addOther(raw.kernels[0] ?? raw.name, 0, raw.time_ns / 1000);
        continue;
      }
      const gemm = named(raw);
      const { calls: _, graph_calls: __, time_us: ___, kernels: ____, ...key } =
        gemm;
      const name = JSON.stringify(key);
      gemms.set(name, sumOf(gemm, gemms.get(name)));
    }
    for (const { name, calls, time_ns } of part.other) {
      addOther(name, calls, time_ns / 1000);
    }
  }
  const slowest = <T extends { readonly time_us: number | null }>(
    all: Iterable<T>,
  ) => [...all].toSorted((a, b) => (b.time_us ?? 0) - (a.time_us ?? 0));
  const main = parts.toSorted((a, b) => callsOf(b) - callsOf(a))[0];
  const clock = main?.clock ?? "none";
  const steps = Math.max(0, ...parts.map((part) => part.steps));
  return {
    schema: 1,
    program: program.map(clipped),
    ...(main === undefined || main.device === "" ? {} : {
      device: { name: main.device, arch: `sm_${main.major}${main.minor}` },
    }),
    window_s: Math.max(0, ...parts.map(({ window_ns }) => window_ns / 1e9)),
    wall_s,
    ...(clock === "cupti"
      ? { gpu_busy_us: sum(parts.map(({ busy_ns }) => busy_ns / 1000)) }
      : {}),
    ...(steps > 0 ? { steps } : {}),
    clock,
    gemms: slowest(gemms.values()).map((gemm) =>
      clock === "none" ? { ...gemm, time_us: null } : gemm
    ),
    other: slowest(other.values()),
    notes: [...notesOf(parts), ...new Set(notes)],
  };
}

function sumOf(
  gemm: CapturedGemm,
  old: CapturedGemm | undefined,
): CapturedGemm {
  if (old === undefined) return gemm;
  return {
    ...gemm,
    calls: gemm.calls + old.calls,
    graph_calls: gemm.graph_calls! + old.graph_calls!,
    time_us: gemm.time_us! + old.time_us!,
    kernels: [...new Set([...gemm.kernels!, ...old.kernels!])],
  };
}

/** The most characters of a name: those of template instances have thousands. */
const MOST_CHARACTERS = 500;

function clipped(text: string): string {
  return text.slice(0, MOST_CHARACTERS);
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, one) => total + one, 0);
}

function callsOf({ gemms, other }: Part): number {
  return sum([...gemms, ...other].map(({ calls }) => calls));
}

const CUPTI_WAY =
  "put the folder of libcupti.so of the program's CUDA into LD_LIBRARY_PATH, and start no other profiler";

/** Returns a sentence about each thing that the records lack. */
function notesOf(parts: readonly Part[]): string[] {
  const dropped = sum(parts.map((part) => part.dropped));
  const blind = parts.filter(({ clock }) => clock !== "cupti");
  const open = parts.filter(({ done }) => !done).length;
  return [
    ...new Set(blind.map(({ clock, cupti }) => {
      const times = clock === "events"
        ? "times are of CUDA events around calls"
        : "there are no times";
      return `${times}, and replays of graphs are not counted: ${cupti}; ${CUPTI_WAY}`;
    })),
    ...(dropped > 0 ? [`CUPTI lost ${dropped} records`] : []),
    ...(parts.some(({ full }) => full)
      ? ["there are more than 65,536 GEMMs: the others are not counted"]
      : []),
    ...(open > 0
      ? [
        `${open} of ${parts.length} processes ended without notice: up to a second of them is missing`,
      ]
      : []),
  ];
}
