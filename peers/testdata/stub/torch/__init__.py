"""As much of torch as runtime/ and the examples use, on the host: tensors are bytes, graphs lists of calls."""

import contextlib
import struct
import types

__version__ = "0.0"


class dtype:
    def __init__(self, name, itemsize):
        self.name, self.itemsize = name, itemsize

    def __repr__(self):
        return f"torch.{self.name}"


uint8, int32 = dtype("uint8", 1), dtype("int32", 4)
bfloat16, float16, float32, float64 = (
    dtype(name, size) for name, size in (("bfloat16", 2), ("float16", 2), ("float32", 4), ("float64", 8))
)


class Tensor:
    def __init__(self, memory, kind, shape, strides):
        self.memory, self.dtype, self.shape, self.strides = memory, kind, tuple(shape), tuple(strides)

    def cuda(self):
        return self

    cpu = numpy = cuda

    def clone(self):
        return Tensor(bytearray(self.memory), self.dtype, self.shape, self.strides)

    def view(self, kind):
        if kind.itemsize > self.dtype.itemsize:
            return Tensor(self.memory, kind, (self.shape[0] // kind.itemsize,), (1,))
        by = self.dtype.itemsize // kind.itemsize
        shape, strides = [*self.shape[:-1], self.shape[-1] * by], [s * by for s in self.strides[:-1]] + [1]
        return Tensor(self.memory, kind, shape, strides)

    def as_strided(self, shape, strides):
        return Tensor(self.memory, self.dtype, shape, strides)

    def places(self):
        at = [0]
        for size, stride in zip(self.shape, self.strides):
            at = [a + i * stride for a in at for i in range(size)]
        return [a * self.dtype.itemsize for a in at]

    def stride(self, axis):
        return self.strides[axis]

    def tobytes(self):
        return b"".join(self.memory[a : a + self.dtype.itemsize] for a in self.places())

    def contiguous(self):
        n = self.shape[-1]
        return Tensor(bytearray(self.tobytes()), self.dtype, self.shape, (n, 1)[-len(self.shape) :])

    def fill_(self, value):
        for a in self.places():
            self.memory[a] = value

    def numbers(self):
        """Of bfloat16."""
        return [struct.unpack("<f", b"\0\0" + self.memory[a : a + 2])[0] for a in self.places()]

    def write(self, numbers):
        """Rounded to nearest, ties away from 0."""
        for a, x in zip(self.places(), numbers):
            (bits,) = struct.unpack("<I", struct.pack("<f", x))
            self.memory[a : a + 2] = struct.pack("<I", bits + 0x8000)[2:]

    def relu_(self):
        launch(lambda: self.write([max(x, 0.0) for x in self.numbers()]))

    def __matmul__(self, other):
        return mm(self, other)


def frombuffer(raw, dtype):
    return Tensor(raw, dtype, (len(raw),), (1,))


def full(shape, value, dtype, device):
    return Tensor(bytearray([value]) * shape[0], dtype, shape, (1,))


def empty(rows, cols):
    return Tensor(bytearray(2 * rows * cols), bfloat16, (rows, cols), (cols, 1))


def from_dlpack(other):
    return other.__dlpack__()


def equal(a, b):
    return a.memory == b.memory


graph = None


def launch(work):
    """Does `work` now, or at each replay of the graph that is recorded."""
    (work if graph is None else graph.work.append)(*(() if graph is None else (work,)))


def mm(a, b, out=None):
    (m, k), (_, n) = a.shape, b.shape
    c = out or empty(m, n)

    def work():
        x, y = a.numbers(), b.numbers()
        c.write([sum(x[i * k + p] * y[p * n + j] for p in range(k)) for i in range(m) for j in range(n)])

    launch(work)
    return c


def relu(a):
    c = empty(*a.shape)
    launch(lambda: c.write([max(x, 0.0) for x in a.numbers()]))
    return c


def refuse_while_recorded():
    if graph is not None:
        raise RuntimeError("CUDA error: operation not permitted when stream is capturing\nCUDA kernel errors might be")


class CUDAGraph:
    def capture_begin(self, capture_error_mode):
        global graph
        graph, self.work = self, []

    def capture_end(self):
        global graph
        graph = None

    def replay(self):
        for work in self.work:
            work()


class ExternalStream:
    def __init__(self, value):
        self.cuda_stream = value

    def synchronize(self):
        pass


cuda = types.SimpleNamespace(
    CUDAGraph=CUDAGraph,
    ExternalStream=ExternalStream,
    OutOfMemoryError=MemoryError,
    is_available=lambda: True,
    set_device=lambda device: None,
    stream=lambda stream: contextlib.nullcontext(),
    synchronize=refuse_while_recorded,
)
inference_mode = contextlib.nullcontext
backends = types.SimpleNamespace(cuda=types.SimpleNamespace(matmul=types.SimpleNamespace(allow_tf32=False)))


def set_float32_matmul_precision(precision):
    pass


def compile(model, **options):
    return model


library = types.SimpleNamespace(custom_op=lambda name, mutates_args: lambda function: function)
