"""Two exports in one process: FOLDER FOLDER, driver's path, which have the same shape but for K."""

import sys

import torch

from emulation import driver, exported, in_memory_of, one_refused

*folders, library = sys.argv[1:]
modules = [exported(folder, library) for folder in folders]
cuda = driver(library)
assert len({str(module.operator) for module in modules}) == 2
pairs = []
for module in modules:
    [shape] = module.shapes()
    a, b = (torch.randint(-2, 3, (rows, shape["k"])).to(shape["type"]) for rows in (shape["m_from"], shape["n"]))
    pairs.append((in_memory_of(cuda, a), in_memory_of(cuda, b).t()))
with torch.no_grad():
    for own, module in enumerate(modules):
        for call in (module.matmul, module.operator):
            assert torch.equal(call(*pairs[own]), (pairs[own][0].double() @ pairs[own][1].double()).to(a.dtype))
            one_refused(call, "no exported kernel has this shape", *pairs[1 - own])
    compiled = torch.compile(
        lambda: [module.matmul(*pair) for module, pair in zip(modules, pairs)], fullgraph=True, backend="aot_eager"
    )
    assert all(torch.equal(out, module.matmul(*pair)) for out, module, pair in zip(compiled(), modules, pairs))
print("0 failures")
