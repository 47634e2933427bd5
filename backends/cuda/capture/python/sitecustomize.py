"""Tells the recorder of `mnkbench capture` about the matrix products of PyTorch.

Python imports this file at its start, because its folder is first in PYTHONPATH. It then imports the
`sitecustomize` that Python would have found without it. Products that reach cuBLAS are recorded
there. Of PyTorch are recorded only those that run kernels of its own: grouped products, those of
FP8 whose scales cuBLAS does not take, and templates of torch.compile. The first two are intercepted
in the dispatcher at the key BackendSelect, which is below autograd, tracing and modes, and above the
kernels; templates where Inductor launches them.
"""

import importlib.machinery
import importlib.util
import os
import sys

HERE = os.path.dirname(os.path.abspath(__file__))


def import_own_sitecustomize():
    """Imports the module of this name that the program would have had."""
    sys.path[:] = [path for path in sys.path if os.path.abspath(path) != HERE]
    spec = importlib.machinery.PathFinder.find_spec("sitecustomize", sys.path)
    if spec is None or spec.loader is None:
        return
    module = importlib.util.module_from_spec(spec)
    sys.modules["sitecustomize"] = module
    spec.loader.exec_module(module)


class AfterImport:
    """A finder of modules that calls a function once a module has been imported."""

    def __init__(self, actions):
        self.actions = dict(actions)

    def find_spec(self, name, path=None, target=None):
        if name not in self.actions:
            return None
        spec = None
        for finder in list(sys.meta_path):
            find = getattr(finder, "find_spec", None)
            if finder is not self and find is not None:
                spec = find(name, path, target)
            if spec is not None:
                break
        run = getattr(getattr(spec, "loader", None), "exec_module", None)
        if run is None:
            return spec

        def exec_module(module):
            run(module)
            # Programs also look modules up without importing them.
            action = self.actions.pop(name, None)
            if action is None:
                return
            try:
                action(module)
            except Exception as error:
                # The program must not end because it cannot be recorded.
                note(f"{name} cannot be recorded: {type(error).__name__}: {error}")

        try:
            spec.loader.exec_module = exec_module
        except AttributeError as error:
            note(f"{name} cannot be recorded: {error}")
        return spec


def note(text):
    """Leaves `text` for the command that started the program."""
    path = os.path.join(os.environ["MNKBENCH_CAPTURE_DIR"], f"{os.getpid()}.note")
    with open(path, "a", encoding="utf-8") as file:
        file.write(text + "\n")


def load_recorder():
    import ctypes

    recorder = ctypes.PyDLL(os.environ["MNKBENCH_CAPTURE_LIBRARY"])
    recorder.mnkbench_capture_begin.argtypes = [ctypes.c_void_p, ctypes.c_char_p]
    recorder.mnkbench_capture_begin.restype = None
    recorder.mnkbench_capture_end.argtypes = [ctypes.c_int]
    recorder.mnkbench_capture_end.restype = None
    recorder.mnkbench_capture_phase.argtypes = [ctypes.c_char_p]
    recorder.mnkbench_capture_phase.restype = None
    recorder.mnkbench_capture_step.argtypes = []
    recorder.mnkbench_capture_step.restype = None
    return recorder


# `struct gemm` of recorder.h: seven numbers of 64 bits, then of 32.
LONGS = ("m", "n", "k", "batch", "lda", "ldb", "ldc")
INTS = (
    *("library", "function", "type_a", "type_b", "type_c", "compute"),
    *("column_a", "column_b", "epilogue", "scale_a", "scale_b"),
    *("beta", "groups", "phase"),
)
LIBRARY_TRITON = 3
EPILOGUE_NONE, EPILOGUE_BIAS = 1, 4
# None of cublasLtEpilogue_t: operators that are computed in the same kernel.
EPILOGUE_FUSED = 1 << 20
COMPUTE_F32 = 68
SCALE_TENSOR, SCALE_VEC16, SCALE_VEC32, SCALE_ROW, SCALE_VEC128, SCALE_BLOCK128 = range(6)


def type_codes(torch):
    """Returns the numbers of cudaDataType_t."""
    names = {
        **{"float32": 0, "float64": 1, "float16": 2, "int8": 3, "uint8": 8, "int32": 10},
        **{"bfloat16": 14, "float8_e4m3fn": 28, "float8_e5m2": 29, "float8_e8m0fnu": 30},
        **{"float4_e2m1fn_x2": 33},
    }
    return {
        getattr(torch, name): code for name, code in names.items() if hasattr(torch, name)
    }


def scale_code(torch, scale, rows, k, is_left):
    """Returns what shares a scale of an operand of `rows` rows of `k` elements."""
    if isinstance(scale, (list, tuple)):
        scale = scale[0]
    if scale.dtype == getattr(torch, "float8_e8m0fnu", None):
        return SCALE_VEC32
    if scale.dtype == torch.float8_e4m3fn:
        return SCALE_VEC16
    if scale.numel() == 1:
        return SCALE_TENSOR
    if scale.numel() == rows:
        return SCALE_ROW
    return SCALE_VEC128 if is_left and scale.shape[0] == rows else SCALE_BLOCK128


def stored(matrix):
    """Returns whether the last two dimensions are stored by columns, and their stride."""
    rows, columns = matrix.stride(-2), matrix.stride(-1)
    is_column = rows == 1 and columns != 1
    return int(is_column), max(1, columns if is_column else rows)


def gemm_type():
    """Returns `struct gemm` for ctypes."""
    import ctypes

    fields = [(name, ctypes.c_int64) for name in LONGS]
    fields += [(name, ctypes.c_int32) for name in INTS]
    return type("Gemm", (ctypes.Structure,), {"_fields_": fields})


def record_torch(torch):
    """Replaces the operators of products that may not reach cuBLAS."""
    import ctypes

    recorder = load_recorder()
    codes = type_codes(torch)
    Gemm = gemm_type()
    known = {}

    def gemm_of(name, a, b, others):
        bias = others.get("bias")
        out = others.get("out_dtype") or (a.dtype if "scaled" not in name else torch.bfloat16)
        column_a, lda = stored(a)
        column_b, ldb = stored(b)
        m, k, n = a.shape[-2], a.shape[-1], b.shape[-1]
        packed = 2 if codes.get(a.dtype) == 33 else 1
        offsets = others.get("offs")
        scales = [others.get("scale_a"), others.get("scale_b")]
        return Gemm(
            m=m, n=n, k=k * packed,
            batch=b.shape[0] if offsets is None and b.dim() == 3 else 1,
            lda=lda, ldb=ldb, ldc=n,
            type_a=codes.get(a.dtype, -1), type_b=codes.get(b.dtype, -1),
            type_c=codes.get(out, -1), compute=COMPUTE_F32,
            column_a=column_a, column_b=column_b,
            epilogue=EPILOGUE_NONE if bias is None else EPILOGUE_BIAS,
            scale_a=-1 if scales[0] is None else scale_code(torch, scales[0], m, k, True),
            scale_b=-1 if scales[1] is None else scale_code(torch, scales[1], n, k, False),
            beta=0, groups=1 if offsets is None else max(1, offsets.numel()),
        )  # fmt: skip

    def key_of(a, b, others):
        def shape(value):
            if isinstance(value, torch.Tensor):
                return value.shape, value.stride(), value.dtype
            return tuple(map(shape, value)) if isinstance(value, (list, tuple)) else value

        return shape(a), shape(b), tuple((name, shape(value)) for name, value in others.items())

    below = torch._C._dispatch_keyset_full_after(torch._C.DispatchKey.BackendSelect)

    def replace(library, name, overload):
        operator = getattr(getattr(torch.ops.aten, name), overload)
        names = [argument.name for argument in operator._schema.arguments]
        text = f"aten::{name}".encode()

        def call(keys, *args, **kwargs):
            a, b = args[0], args[1]
            if type(a) is not torch.Tensor or not a.is_cuda:
                return operator.redispatch(keys & below, *args, **kwargs)
            others = {**dict(zip(names[2:], args[2:])), **kwargs}
            key = (name, key_of(a, b, others))
            gemm = known.get(key)
            if gemm is None:
                gemm = known[key] = gemm_of(name, a, b, others)
            recorder.mnkbench_capture_begin(ctypes.addressof(gemm), text)
            failed = 1
            try:
                result = operator.redispatch(keys & below, *args, **kwargs)
                failed = 0
                return result
            finally:
                recorder.mnkbench_capture_end(failed)

        suffix = "" if overload == "default" else f".{overload}"
        library.impl(f"{name}{suffix}", call, "BackendSelect", with_keyset=True)

    library = torch.library.Library("aten", "IMPL")
    for name in ("_grouped_mm", "_scaled_mm", "_scaled_mm_v2", "_scaled_grouped_mm",
                 "_scaled_grouped_mm_v2"):  # fmt: skip
        packet = getattr(torch.ops.aten, name, None)
        for overload in packet.overloads() if packet is not None else ():
            replace(library, name, overload)
    # The operators are replaced for as long as the library lives.
    record_torch.library = library


def triton_epilogue(name):
    """Returns what a kernel of Inductor computes besides the product, by the operators in its name.

    They are in the order of the alphabet, and some may come before the product: of these only
    that there are others is known.
    """
    words = set(name.removeprefix("triton_tem_fused_").split("_"))
    words -= {"mm", "bmm", "t", "permute", "view", "unsqueeze", "expand"}
    words = {word for word in words if not word.isdigit()}
    if words - {"addmm"}:
        return EPILOGUE_FUSED
    return EPILOGUE_BIAS if words else EPILOGUE_NONE


def triton_matrix(matrix, rows, columns, is_transposed):
    """Returns whether a matrix of `rows` by `columns` is stored by columns, and its stride.

    Inductor passes a tensor as it was made, and compiles the transposition into the kernel.
    """
    if matrix.dim() < 2:
        return is_transposed, rows if is_transposed else columns
    is_as_is = matrix.shape[-2] == rows and matrix.shape[-1] == columns
    is_square = rows == columns
    if is_as_is and not (is_square and is_transposed and matrix.stride(-1) == 1):
        return stored(matrix)
    return int(matrix.stride(-1) == 1), max(1, max(matrix.stride(-1), matrix.stride(-2)))


def record_inductor(heuristics):
    """Records products that torch.compile computes by templates of Triton."""
    import ctypes
    import functools

    import torch

    recorder = load_recorder()
    codes = type_codes(torch)
    Gemm = gemm_type()
    autotuner = heuristics.CachingAutotuner
    run = autotuner.run
    missing = object()

    def operands_of(kernel):
        """Returns the positions of A, B and C, or None."""
        name = getattr(kernel.fn, "__name__", "")
        names = list(getattr(kernel.fn, "arg_names", ()))
        outputs = [at for at, one in enumerate(names) if "out_ptr" in one]
        if not name.startswith("triton_tem_") or "arg_A" not in names or not outputs:
            return None
        return names.index("arg_A"), names.index("arg_B"), outputs[-1], name

    def gemm_of(name, a, b, c):
        m, n = c.shape[-2], c.shape[-1]
        batch = c.numel() // max(1, m * n)
        k = a.numel() // max(1, batch * m)
        if b.numel() == k * n:
            m, batch = batch * m, 1
        if a.numel() != batch * m * k or b.numel() != batch * k * n:
            return None
        column_a, lda = triton_matrix(a, m, k, False)
        column_b, ldb = triton_matrix(b, k, n, "_t_" in name or "permute" in name)
        return Gemm(
            m=m, n=n, k=k, batch=batch, lda=lda, ldb=ldb, ldc=n, library=LIBRARY_TRITON,
            type_a=codes.get(a.dtype, -1), type_b=codes.get(b.dtype, -1),
            type_c=codes.get(c.dtype, -1), compute=COMPUTE_F32,
            column_a=column_a, column_b=column_b, epilogue=triton_epilogue(name),
            scale_a=-1, scale_b=-1, beta=0, groups=1,
        )  # fmt: skip

    @functools.wraps(run)
    def recorded(self, *args, **kwargs):
        operands = self.__dict__.get("_mnkbench_operands", missing)
        if operands is missing:
            operands = self._mnkbench_operands = operands_of(self)
            self._mnkbench_gemms = {}
        if operands is None:
            return run(self, *args, **kwargs)
        a, b, c = (args[at] if at < len(args) else None for at in operands[:3])
        if not all(isinstance(one, torch.Tensor) for one in (a, b, c)):
            return run(self, *args, **kwargs)
        key = (a.shape, a.stride(), b.shape, b.stride(), c.shape)
        gemm = self._mnkbench_gemms.get(key, missing)
        if gemm is missing:
            gemm = self._mnkbench_gemms[key] = gemm_of(operands[3], a, b, c)
        if gemm is None:
            return run(self, *args, **kwargs)
        recorder.mnkbench_capture_begin(ctypes.addressof(gemm), operands[3].encode())
        failed = 1
        try:
            result = run(self, *args, **kwargs)
            failed = 0
            return result
        finally:
            recorder.mnkbench_capture_end(failed)

    autotuner.run = recorded


def record_phases(utils):
    """Tells prefill from decode in `generate()` of transformers, and counts its steps."""
    import functools

    recorder = load_recorder()
    mixin = utils.GenerationMixin
    prefill, generate = mixin._prefill, mixin.generate
    update = mixin._update_model_kwargs_for_generation

    @functools.wraps(prefill)
    def in_prefill(*args, **kwargs):
        recorder.mnkbench_capture_phase(b"prefill")
        try:
            return prefill(*args, **kwargs)
        finally:
            recorder.mnkbench_capture_phase(b"decode")

    @functools.wraps(generate)
    def in_generate(*args, **kwargs):
        try:
            return generate(*args, **kwargs)
        finally:
            recorder.mnkbench_capture_phase(b"")

    @functools.wraps(update)
    def after_step(*args, **kwargs):
        recorder.mnkbench_capture_step()
        return update(*args, **kwargs)

    mixin._prefill, mixin.generate = in_prefill, in_generate
    mixin._update_model_kwargs_for_generation = after_step


if "MNKBENCH_CAPTURE_DIR" in os.environ and "MNKBENCH_CAPTURE_LIBRARY" in os.environ:
    ACTIONS = {
        "torch": record_torch,
        "torch._inductor.runtime.triton_heuristics": record_inductor,
        "transformers.generation.utils": record_phases,
    }
    sys.meta_path.insert(0, AfterImport(ACTIONS))
import_own_sitecustomize()
