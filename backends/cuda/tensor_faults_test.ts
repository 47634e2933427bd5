import type { TensorShape } from "../../bench/device/tensor_shape.ts";
import { type Planted, plantedTests } from "../testdata/cuda_planted.ts";

// 32 x 32 numbers in boxes of 8 rows.
const NUMBERS: TensorShape = {
  type: "u32",
  rows: 32,
  columns: 32,
  ld: 32,
  boxRows: 8,
  boxColumns: 32,
};

const BOX = `unsigned bar = m + 1024;
  if (t == 0) {
    barrier_open(bar, 1024);
    copy_tile(m, &map, 0, 28, bar);
  }
  __syncthreads();
  barrier_wait(bar, 0);
  out[t] = s[t] + s[t + 128];`;
const planted = (
  name: string,
  from: string,
  to: string,
  found: RegExp,
): Planted => ({
  ...{ name, from, to, found, right: BOX, tensor: NUMBERS },
});

const PLANTED: readonly Planted[] = [
  planted(
    "a box goes to where none may start",
    "copy_tile(m,",
    "copy_tile(m + 64,",
    /to shared address \d+, which is no multiple of 128/,
  ),
  planted(
    "a box goes beyond the block's memory",
    "copy_tile(m,",
    "copy_tile(m + 1152,",
    /writes bytes 1152 to 2176 of the block's 2048 bytes/,
  ),
  planted(
    "a box tells a barrier that is none",
    "28, bar)",
    "28, bar + 8)",
    /was never made/,
  ),
  planted(
    "a box tells a barrier whose making was not fenced",
    "barrier_open(bar, 1024);",
    "barrier_init(bar, 1); barrier_expect(bar, 1024);",
    /without a fence after its making/,
  ),
  planted(
    "a box is read before the phase of its barrier is over",
    "barrier_wait(bar, 0);",
    "",
    /while a copy to it is under way|a race in/,
  ),
  planted(
    "a block ends before its box has come",
    "__syncthreads();\n  barrier_wait(bar, 0);\n  out[t] = s[t] + s[t + 128];",
    "",
    /ends while copies to its memory are|others may still use its memory/,
  ),
  planted(
    "the rows that a box has outside of the matrix are not expected",
    "barrier_open(bar, 1024)",
    "barrier_open(bar, 512)",
    /bytes more than were expected/,
  ),
  planted(
    "more is expected than a box has",
    "barrier_open(bar, 1024)",
    "barrier_open(bar, 1040)",
    /bytes are missing/,
  ),
  planted(
    "a box is copied by what is no map",
    "&map",
    "(const TensorMap*)in",
    /a copy by what is no tensor map/,
  ),
  planted(
    "a map is not where maps are",
    "&map",
    "(const TensorMap*)((const char*)&map + 16)",
    /at an address that is no multiple of 64/,
  ),
  planted(
    "a map is in the block's memory",
    "&map",
    "(const TensorMap*)memory",
    /a tensor map in the block's memory/,
  ),
  planted(
    "a box is read while others write to the matrix",
    "if (t == 0) {",
    "if (t == 40) ((unsigned*)in)[900] = 1;\n  if (t == 0) {",
    /a race in global memory at byte 3600/,
  ),
];

plantedTests(PLANTED);
