import { assertEquals, assertMatch, assertThrows } from "@std/assert";
import { UserError } from "../../bench/model/errors.ts";
import { importCsv } from "./mod.ts";

function testdata(name: string): string {
  return Deno.readTextFileSync(new URL(`testdata/${name}`, import.meta.url));
}

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
