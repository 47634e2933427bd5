"""An export whose operator is of CUDA's key refuses tensors of the CPU: FOLDER, driver's path."""

import os
import sys

import torch

from emulation import exported, one_refused

os.environ["MNK_TORCH_KEY"] = "CUDA"
mnk_matmul = exported(*sys.argv[1:])
shape = mnk_matmul.shapes()[0]
a, b = (torch.zeros(rows, shape["k"], dtype=shape["type"]) for rows in (shape["m_from"], shape["n"]))
b = b.t()
for call in (mnk_matmul.matmul, mnk_matmul.operator):
    one_refused(call, "from the 'CPU' backend", a, b, None, False)
    one_refused(call, "from the 'CPU' backend", a, b, b[0], True)
    # The meta device stands for another one.
    one_refused(call, "on different devices", a, b.to("meta"), None, False)
    one_refused(call, "on different devices", a.to("meta"), b, None, False)
    one_refused(call, "on different devices", a, b, b[0].to("meta"), False)
print("0 failures")
