"""The inputs of a problem on the device, and the bytes that go in and out."""

import torch

TYPES = {"bf16": torch.bfloat16, "f16": torch.float16, "f32": torch.float32}


class Loaded:
    """A problem with the harness's own inputs on the device."""

    def __init__(self, problem, module, paths):
        self.problem = problem
        self.storages = []
        for path in paths:
            with open(path, "rb") as file:
                raw = torch.frombuffer(bytearray(file.read()), dtype=torch.uint8)
            self.storages.append(raw.cuda())
        self.before = [s.clone() for s in self.storages]
        self.operands = module.operands_of(problem, self.storages)

    def changed(self):
        """The number of the first input that is not as it was, or None."""
        for i, (now, before) in enumerate(zip(self.storages, self.before)):
            if not torch.equal(now, before):
                return i
        return None


def tensors_of(out):
    """The tensors that a call returned: one, or several."""
    return [out] if isinstance(out, torch.Tensor) else out


def poison(out):
    """Makes every byte 0xff: NaN in every type."""
    for tensor in tensors_of(out):
        tensor.view(torch.uint8).fill_(0xFF)


def bytes_of(out):
    """The stored bytes of an output, row by row; of several, one after the other."""
    return b"".join(
        tensor.contiguous().view(torch.uint8).cpu().numpy().tobytes() for tensor in tensors_of(out)
    )
