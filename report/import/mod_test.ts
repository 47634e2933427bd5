import { assert, assertEquals, assertMatch, assertThrows } from "@std/assert";
import { formatWide } from "../table/wide.ts";
import { importCsv } from "./mod.ts";
import { UserError } from "../../bench/model/errors.ts";

function testdata(name: string): string {
  return Deno.readTextFileSync(new URL(`testdata/${name}`, import.meta.url));
}

function imported(file: string, run?: string) {
  return importCsv(testdata(file), { file, run });
}

Deno.test("importCsv() reads a suite of decompose-k, digit for digit", () => {
  const rows = imported("epilogue_relu_bf16.csv", "decompose-k-v3");
  assertEquals(
    rows.slice(0, 7).map((row) => [row.kernel, row.median_us, row.config]),
    [
      ["torch.mm+relu", "15.552000142633915", ""],
      ["compiled-torch.mm+relu", "13.183999806642532", ""],
      [
        "custom-op-mm+relu",
        "9.184000082314014",
        "AUTOTUNE=static_mm_relu_fused_autotune IMPL=decompose_k_relu_impl K_SPLITS=64 CHOICE=static_mm_relu_fused_autotune_decompose_k_relu_impl_k_splits__64_12",
      ],
      [
        "decomposeK+relu",
        "11.935999616980553",
        "SPLIT=128 BM=16 BN=16 BK=64",
      ],
      [
        "decomposeK-fused-relu",
        "9.200000204145908",
        "SPLIT=128 BM=16 BN=16 BK=64",
      ],
      [
        "TLX-decomposeK+relu",
        "11.42400037497282",
        "SPLIT=64 BM=64 BN=32 BK=128",
      ],
      [
        "TLX-decomposeK-fused-relu",
        "8.63999966531992",
        "SPLIT=64 BM=64 BN=32 BK=128",
      ],
    ],
  );
  assertEquals(rows.length, 14);
  const {
    suite,
    params,
    device,
    harness,
    run,
    timer,
    warmup_ms,
    rep_ms,
    q1_us,
  } = rows[0]!;
  assertEquals(
    { suite, params, device, harness, run, timer, warmup_ms, rep_ms, q1_us },
    {
      suite: "epilogue-bf16",
      params: "epilogue=relu",
      device: "NVIDIA H100",
      harness: "published",
      run: "decompose-k-v3",
      timer: "do_bench",
      warmup_ms: "10",
      rep_ms: "50",
      q1_us: "",
    },
  );
});

for (const file of ["epilogue_relu_bf16.csv", "plain_matmul_fp32.csv"]) {
  Deno.test(`importCsv() and formatWide() give back ${file} byte for byte`, () => {
    assertEquals(formatWide(imported(file, "r")).csv, testdata(file));
  });
}

Deno.test("importCsv() takes one run of a file with several", () => {
  const rows = imported("all_us.csv", "decompose-k-v1");
  assertEquals(
    rows.map(({ kernel, run, median_us }) => [kernel, run, median_us]),
    [
      ["torch.mm+relu", "decompose-k-v1", "15.104"],
      ["compiled-torch.mm+relu", "decompose-k-v1", "11.648"],
      ["custom-op-mm+relu", "decompose-k-v1", "8.928"],
      ["decomposeK+relu", "decompose-k-v1", "11.936"],
      ["decomposeK-fused-relu", "decompose-k-v1", "9.504"],
      ["torch.mm", "decompose-k-v1", "15.52"],
      ["compiled-torch.mm", "decompose-k-v1", "13.92"],
      ["custom-op-mm", "decompose-k-v1", "9.536"],
      ["decomposeK", "decompose-k-v1", "10.496"],
    ],
  );
  assertEquals(imported("all_us.csv").length, 9 + 9 + 11);
});

Deno.test("importCsv() reads AITER's tuned GEMMs, means as means", () => {
  const rows = imported("dsv3_bf16_tuned_gemm.csv");
  assertEquals(
    rows.map((row) => [
      row.suite,
      row.kernel,
      row.params,
      row.c_type,
      row.mean_us,
      row.median_us,
      row.config,
      row.run,
    ]),
    [
      [
        "aiter-dsv3",
        "skinny",
        "epilogue=none",
        "bf16",
        "5.2154",
        "",
        "KERNEL=sol2 SPLIT=0",
        "aiter-gfx950-256cu",
      ],
      [
        "aiter-dsv3",
        "flydsl",
        "epilogue=bias bpreshuffle=true",
        "f32",
        "5.9909",
        "",
        "KERNEL=flydsl_gemm8 SPLIT=8",
        "aiter-gfx950-256cu",
      ],
    ],
  );
  // Their own column bw of this row, which is rounded.
  assert(Math.abs(Number(rows[0]!.gbps) - 706.54) < 0.005);
});

Deno.test("importCsv() asks which run a file of one suite is of", () => {
  assertMatch(
    assertThrows(() => imported("plain_matmul_fp32.csv"), Error).message,
    /does not say which run it is of; give --run/,
  );
  assertMatch(
    assertThrows(() => imported("all_us.csv", "mine"), Error).message,
    /no time of run mine/,
  );
});

const SEED = testdata("plain_matmul_fp32.csv").replaceAll("\r\n", "\n");
const AITER = testdata("dsv3_bf16_tuned_gemm.csv");

/** What is wrong with a file, and how it is said. */
const REFUSED: readonly (readonly [string, string, string, RegExp])[] = [
  ["empty", "", "r", /^Cannot import f\.csv: it is empty;/],
  ["not text", "\0\x01", "r", /it is not text/],
  ["a header only", SEED.split("\n")[0]!, "r", /a header and no rows/],
  [
    "columns of something else",
    "a,b\n1,2\n",
    "r",
    /row 1 has none of the columns dk_us/,
  ],
  [
    "a column less",
    SEED.replaceAll("dtype", "type"),
    "r",
    /row 1 has no column dtype/,
  ],
  ["a column twice", SEED.replace("n,k,", "k,k,"), "r", /two columns k/],
  ["an open quote", `${SEED}"`, "r", /it is not a CSV/],
  [
    "a truncated last line",
    SEED.slice(0, -60),
    "r",
    /row 3 has \d+ fields, not \d+, and breaks off at column (?:standalone|custom)/,
  ],
  [
    "a negative time",
    SEED.replace(/float32,0/, "float32,-0"),
    "r",
    /row 2, column eager_ms is -0\.\d+, not a time above 0/,
  ],
  [
    "a time that is NaN",
    SEED.replace(/float32,[^,]+/, "float32,nan"),
    "r",
    /eager_ms is nan/,
  ],
  [
    "a size of nothing",
    SEED.replace(/matmul-fp32,16/, "matmul-fp32,0"),
    "r",
    /row 2, column m is 0, not a whole number/,
  ],
  [
    "an unknown type",
    SEED.replace("float32", "float8"),
    "r",
    /row 2, column dtype is float8, not one of bfloat16/,
  ],
  [
    "a shape twice",
    SEED + SEED.split("\n")[1]! + "\n",
    "r",
    /row 4 is torch\.mm at 16×16×28672 of matmul-fp32, and so is row 2/,
  ],
  [
    "no time of AITER",
    AITER.replace("5.2154", ""),
    "r",
    /row 2, column us is empty, and every row has a time/,
  ],
  [
    "scaled operands",
    AITER.replace("False,False,skinny", "True,False,skinny"),
    "r",
    /row 2, column scaleAB is True/,
  ],
  [
    "a GPU without a name",
    AITER.replace("gfx950", ""),
    "r",
    /row 2, column gfx is empty/,
  ],
];

for (const [what, text, run, why] of REFUSED) {
  Deno.test(`importCsv() refuses ${what}, saying where`, () => {
    const { message } = assertThrows(
      () => importCsv(text, { file: "f.csv", run }),
      UserError,
    );
    assertMatch(message, why);
    assertEquals(message.split("\n").length, 1);
  });
}

Deno.test("importCsv() does not mind a byte order mark, CRLF and columns in another order", () => {
  const reordered = SEED.trimEnd().split("\n")
    .map((line) => line.split(",").toReversed().join(",")).join("\r\n");
  assertEquals(
    importCsv(`\uFEFF${reordered}\r\n`, { file: "f.csv", run: "r" }),
    importCsv(SEED, { file: "f.csv", run: "r" }),
  );
});

Deno.test("importCsv() shortens a value that it refuses", () => {
  const text = SEED.replace("float32", "x".repeat(1e6));
  const { message } = assertThrows(
    () => importCsv(text, { file: "a.csv", run: "r" }),
    UserError,
  );
  assertMatch(message, /row 2, column dtype is x{39}…, not one of/);
});
