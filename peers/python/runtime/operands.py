"""The inputs of a problem on the device, and the bytes that go in and out."""

import functools

import torch

TYPES = {"bf16": torch.bfloat16, "f16": torch.float16, "f32": torch.float32}


class Loaded:
    """A problem with the harness's own inputs on the device."""

    def __init__(self, problem, operations, paths):
        self.problem, self.operations = problem, operations
        self.storages = []
        for path in paths:
            with open(path, "rb") as file:
                raw = torch.frombuffer(bytearray(file.read()), dtype=torch.uint8)
            self.storages.append(raw.cuda())
        self.before = [s.clone() for s in self.storages]

    @functools.cached_property
    def operands(self):
        """The tensors as the module of the operation makes them; functions of users need none."""
        return self.operations.load(self.problem).operands_of(self.problem, self.storages)

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
        if tensor.stride(-1) == 1:
            tensor.view(torch.uint8).fill_(0xFF)
        else:
            # Of columns, which cannot be viewed as bytes.
            tensor.fill_(float("nan"))


def bytes_of(out):
    """The stored bytes of an output, row by row; of several, one after the other."""
    return b"".join(
        tensor.contiguous().view(torch.uint8).cpu().numpy().tobytes() for tensor in tensors_of(out)
    )
