"""An export on a device of another architecture: FOLDER, driver's path."""

import sys

import torch

from emulation import driver, exported, in_memory_of, one_refused

folder, library = sys.argv[1:]
mnk_matmul = exported(folder, library)
cuda = driver(library)
shape = mnk_matmul.shapes()[0]
a, b = (torch.zeros(rows, shape["k"], dtype=shape["type"]) for rows in (shape["m_from"], shape["n"]))
one_refused(mnk_matmul.load, "of another architecture (6)", "cpu:0")
one_refused(mnk_matmul.matmul, "of another architecture (6)", in_memory_of(cuda, a), in_memory_of(cuda, b).t())
print("0 failures")
