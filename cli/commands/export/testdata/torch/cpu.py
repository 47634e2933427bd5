"""An export whose operator is of CUDA's key refuses tensors of the CPU: FOLDER, driver's path."""

import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

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
# An exception that is raised where other threads hold the interpreter's lock.
with ThreadPoolExecutor(4) as pool:
    list(pool.map(lambda _: one_refused(mnk_matmul.matmul, "from the 'CPU' backend", a, b, None, False), range(400)))
if "TORCH_SHOW_CPP_STACKTRACES" not in os.environ:
    # Once more where an exception has the C++ stack in its message.
    subprocess.run([sys.executable, *sys.argv], env={**os.environ, "TORCH_SHOW_CPP_STACKTRACES": "1"}, check=True)
print("0 failures")
