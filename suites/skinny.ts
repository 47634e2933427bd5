/**
 * Skinny square outputs of a long K, at the shapes of the decompose-k measurements: A · B in each
 * type, and relu(A · B).
 *
 * @module
 */

import { defineSuite, type Suite } from "../bench/model/suite.ts";
import {
  baselines,
  matmul,
  plainKernels,
  skinnyKernels,
} from "../kernels/matmul/mod.ts";

/** M = N from 16 to 64, K from 8192 to 32768, row-major operands. */
const skinny = {
  op: matmul,
  axes: {
    layout: ["nn"],
    m: [16, 32, 48, 64],
    k: [8192, 12288, 16384, 20480, 24576, 28672, 32768],
  },
  tie: { n: "m" },
  quick: { m: [16, 64], k: [8192, 16384] },
  kernels: plainKernels,
  baselines,
} as const;

const suites: readonly Suite[] = [
  defineSuite({
    ...skinny,
    name: "epilogue-bf16",
    title: "relu(A · B) in bf16, fp32 accumulation",
    fixed: { type: "bf16", epilogue: "relu" },
    kernels: skinnyKernels,
  }),
  defineSuite({
    ...skinny,
    name: "matmul-bf16",
    title: "A · B in bf16, fp32 accumulation",
    fixed: { type: "bf16", epilogue: "none" },
  }),
  defineSuite({
    ...skinny,
    name: "matmul-fp16",
    title: "A · B in fp16, fp32 accumulation",
    fixed: { type: "f16", epilogue: "none" },
  }),
  defineSuite({
    ...skinny,
    name: "matmul-fp32",
    title: "A · B in IEEE fp32",
    fixed: { type: "f32", epilogue: "none" },
  }),
];

export default suites;
