"""A program with products of cuBLAS and of PyTorch, and a generation."""

import importlib.util
import os
import sys

# As transformers does, before torch is imported.
assert importlib.util.find_spec("torch") is not None

import torch  # noqa: E402
from torch._inductor.runtime.triton_heuristics import CachingAutotuner
from transformers.generation.utils import GenerationMixin

assert own_sitecustomize  # noqa: F821
assert not any("capture/python" in path and "testdata" not in path for path in sys.path)

bf16, fp8, fp32 = torch.bfloat16, torch.float8_e4m3fn, torch.float32
torch._cuda.cuInit(0)
torch.mm(torch.Tensor((4, 64), bf16), torch.Tensor((64, 32), bf16))
offs = torch.Tensor((8,), fp32)
for _ in range(3):
    experts = torch.Tensor((8, 64, 16), bf16, strides=(1024, 1, 64))
    torch.ops.aten._grouped_mm(torch.Tensor((40, 64), bf16), experts, offs=offs)
x, w = torch.Tensor((16, 64), fp8), torch.Tensor((64, 32), fp8, strides=(1, 64))
one = torch.Tensor((1,), fp32)
torch.ops.aten._scaled_mm(x, w, one, one)
rows = torch.Tensor((16, 1), fp32), torch.Tensor((1, 32), fp32)
torch.ops.aten._scaled_mm(x, w, *rows, out_dtype=bf16)
# On another device nothing is recorded.
torch.ops.aten._grouped_mm(torch.Tensor((9, 64), bf16, device="cpu"), experts, offs=offs)
GenerationMixin().generate(5)


class Template:
    """A kernel of Inductor: x w' + bias, and what else its name says."""

    def __init__(self, name):
        self.__name__ = name

    arg_names = ["in_ptr0", "arg_A", "arg_B", "out_ptr0", "BLOCK_M"]


class Pointwise:
    __name__ = "triton_poi_fused_add_0"
    arg_names = ["in_ptr0", "out_ptr0"]


x, w = torch.Tensor((24, 48), bf16), torch.Tensor((40, 48), bf16)
bias, y = torch.Tensor((40,), bf16), torch.Tensor((24, 40), bf16)
template = CachingAutotuner(Template("triton_tem_fused_addmm_t_0"))
fused = CachingAutotuner(Template("triton_tem_fused_addmm_relu_t_1"))
pointwise = CachingAutotuner(Pointwise())
fused.run(bias, x, w, y, stream=0)
for _ in range(2):
    template.run(bias, x, w, y, stream=0)
    pointwise.run(x, y, stream=0)
sys.stdout.flush()
os._exit(6)
