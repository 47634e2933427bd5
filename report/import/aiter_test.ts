import { assert, assertEquals, assertMatch, assertThrows } from "@std/assert";
import { importAiter } from "./aiter.ts";
import { UserError } from "../../bench/model/errors.ts";

function testdata(name: string): string {
  return Deno.readTextFileSync(new URL(`testdata/${name}`, import.meta.url));
}

const FILE = "dsv3_bf16_tuned_gemm.csv";

Deno.test("importAiter() reads AITER's tuned GEMMs, means as means", () => {
  const rows = importAiter(testdata(FILE), FILE);
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

const AITER = testdata(FILE);

/** What is wrong with a file, and how it is said. */
const REFUSED: readonly (readonly [string, string, RegExp])[] = [
  ["empty", "", /^Cannot import f\.csv: it is empty;/],
  ["not text", "\0\x01", /it is not text/],
  ["a header only", AITER.split("\n")[0]!, /a header and no rows/],
  [
    "columns of something else",
    "a,b\n1,2\n",
    /row 1 has no column gfx, cu_num, M, /,
  ],
  [
    "a column less",
    AITER.replace(",dtype", ",type"),
    /row 1 has no column dtype/,
  ],
  ["a column twice", AITER.replace("N,K,", "K,K,"), /two columns K/],
  ["an open quote", `${AITER}"`, /it is not a CSV/],
  [
    "a truncated last line",
    AITER.slice(0, -30),
    /row 3 has \d+ fields, not 18, and breaks off at column (?:kernelName|err_ratio)/,
  ],
  [
    "a negative time",
    AITER.replace("5.2154", "-5.2154"),
    /row 2, column us is -5\.2154, not a time above 0/,
  ],
  [
    "a time that is NaN",
    AITER.replace("5.2154", "nan"),
    /column us is nan/,
  ],
  [
    "a size of nothing",
    AITER.replace("256,1,256", "256,0,256"),
    /row 2, column M is 0, not a whole number/,
  ],
  [
    "an unknown type",
    AITER.replace("torch.bfloat16", "torch.float8"),
    /row 2, column dtype is torch\.float8, not one of torch\.bfloat16/,
  ],
  [
    "a shape twice",
    AITER + AITER.split("\n")[1]! + "\n",
    /row 4 is skinny at 1×256×7168 of aiter-f, and so is row 2/,
  ],
  [
    "no time of AITER",
    AITER.replace("5.2154", ""),
    /row 2, column us is empty, and every row has a time/,
  ],
  [
    "scaled operands",
    AITER.replace("False,False,skinny", "True,False,skinny"),
    /row 2, column scaleAB is True/,
  ],
  [
    "a GPU without a name",
    AITER.replace("gfx950", ""),
    /row 2, column gfx is empty/,
  ],
];

for (const [what, text, why] of REFUSED) {
  Deno.test(`importAiter() refuses ${what}, saying where`, () => {
    const { message } = assertThrows(
      () => importAiter(text, "f.csv"),
      UserError,
    );
    assertMatch(message, why);
    assertEquals(message.split("\n").length, 1);
  });
}

Deno.test("importAiter() does not mind a byte order mark, CRLF and columns in another order", () => {
  const reordered = AITER.trimEnd().split("\n")
    .map((line) => line.split(",").toReversed().join(",")).join("\r\n");
  assertEquals(
    importAiter(`\uFEFF${reordered}\r\n`, "f.csv"),
    importAiter(AITER, "f.csv"),
  );
});

Deno.test("importAiter() shortens a value that it refuses", () => {
  const text = AITER.replace("torch.bfloat16", "x".repeat(1e6));
  const { message } = assertThrows(
    () => importAiter(text, "a.csv"),
    UserError,
  );
  assertMatch(message, /row 2, column dtype is x{39}…, not one of/);
});
