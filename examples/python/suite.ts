/**
 * Compares Triton, a custom op and `torch.compile` with cuBLAS and the built-in kernels:
 * `mnkbench bench --suite ./suite.ts --timer graph`, with a Python that has PyTorch for CUDA.
 */

import { definePython, defineSuite, kernels, matmul } from "mnkbench";

const python = (name: string, source: string) =>
  definePython(matmul, { name, python: import.meta.resolve(source) });

export default defineSuite({
  name: "example-python",
  title: "relu(A · B) in bf16",
  op: matmul,
  axes: { m: [16, 1024, 4096] },
  tie: { n: "m", k: "m" },
  quick: { m: [16] },
  fixed: { type: "bf16", epilogue: "relu" },
  kernels: [
    ...kernels,
    python("triton", "./triton_matmul.py:matmul"),
    python("custom-op", "./custom_op.py:matmul"),
    python("compiled", "./compiled.py:compiled"),
  ],
  baselines: ["cublas"],
});
