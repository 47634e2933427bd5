"""Calls that functions of users' files make: found, given operands, and asked for outputs."""

import importlib.util
import inspect
import os
import sys
import traceback

import torch

# Types that an older torch lacks are given as bytes.
TYPES = {"e4m3": "float8_e4m3fn", "e5m2": "float8_e5m2", "e8m0": "float8_e8m0fnu", "e2m1x2": "uint8"} | {
    "bf16": "bfloat16", "f16": "float16", "f32": "float32", "f64": "float64"
} | {"i32": "int32", "u32": "uint32", "u8": "uint8"}


class OwnError(RuntimeError):
    """A mistake in a user's file; its text is the note of the row."""


class WrongOutput(RuntimeError):
    """A result that cannot be the outputs."""


def dtype_of(operand):
    """The type of torch for an operand."""
    return getattr(torch, TYPES[operand["type"]], torch.uint8)


class Files:
    """Imported files of users. One that fails is not tried again in this process."""

    def __init__(self):
        self.modules = {}

    def function(self, path, entry):
        """The function `entry` of the file `path`."""
        name = os.path.basename(path)
        if path not in self.modules:
            self.modules[path] = self.load(path, name)
        module = self.modules[path]
        if isinstance(module, OwnError):
            raise module
        found = getattr(module, entry, None)
        if callable(found):
            return found
        there = [key for key, value in vars(module).items() if inspect.isfunction(value)]
        raise OwnError(f"{name} has no function {entry}: there are {', '.join(there) or 'none'}")

    def load(self, path, name):
        folder = os.path.dirname(path)
        if folder not in sys.path:
            # Its own imports, after those of this program.
            sys.path.append(folder)
        spec = importlib.util.spec_from_file_location(f"own_{len(self.modules)}_{name[:-3]}", path)
        module = importlib.util.module_from_spec(spec)
        # Triton and Dynamo look for the source of a function by its module.
        sys.modules[spec.name] = module
        try:
            spec.loader.exec_module(module)
        except (Exception, SystemExit) as error:
            return OwnError(f"cannot import {name}: {said(error, path)}")
        return module


def said(error, path=None):
    """An exception as text, with the last line of the file `path` that led to it."""
    lines = [frame.lineno for frame in traceback.extract_tb(error.__traceback__) if frame.filename == path]
    place = f" (line {lines[-1]})" if lines else ""
    text = str(error)
    if text.startswith("CUDA error"):
        # torch adds lines of advice, the same for every error.
        text = text.split("\n")[0]
    return f"{type(error).__name__}: {text}{place}"


class Own:
    """A function of a user's file at a problem. Outputs of the problem are allocated once."""

    def __init__(self, function, problem, storages):
        self.function = function
        self.outputs, self.padded, self.values = [], [], {**problem.axes}
        inputs = iter(storages)
        for operand in problem.stored:
            shape, stride = (operand["rows"], operand["cols"]), (operand["ld"], 1)
            if operand["role"] == "in":
                raw = next(inputs)
            else:
                size = operand["rows"] * operand["ld"] * dtype_of(operand).itemsize
                raw = torch.full((size,), 0xFF, dtype=torch.uint8, device="cuda")
                if operand["ld"] > operand["cols"]:
                    self.padded.append((operand, raw))
            tensor = raw.view(dtype_of(operand)).as_strided(shape, stride)
            self.values[operand["name"]] = tensor
            if operand["role"] == "out":
                self.outputs.append((operand, tensor))
        self.writes = set()

    def arguments(self):
        """The values of the function's parameters, by name; of names that differ in case the same one."""
        known = {name.lower(): value for name, value in self.values.items()}
        given = {}
        for name, parameter in inspect.signature(self.function).parameters.items():
            if parameter.kind == parameter.VAR_KEYWORD:
                given |= self.values
            elif name.lower() in known:
                given[name] = self.values[name] if name in self.values else known[name.lower()]
            elif parameter.default is parameter.empty:
                raise OwnError(
                    f"its parameter {name} is no operand and no axis: there are {', '.join(self.values)}"
                )
        self.writes = {name.lower() for name in given}
        return given

    def call(self):
        """The call that the function returns. One that returns tensors is itself the call."""
        arguments = self.arguments()
        made = self.function(**arguments)
        if callable(made) and not is_tensor(made):
            call = lambda: self.taken(made())
            config = getattr(made, "config", {})
            config = config.items() if isinstance(config, dict) else ()
            return call, {str(k): v if type(v) is int else "".join(str(v).split()) for k, v in config}
        if made is None:
            raise OwnError("it returned nothing: return a function without arguments that computes the outputs")
        self.taken(made)
        return (lambda: self.taken(self.function(**arguments))), {}

    def taken(self, out):
        """The outputs of a call: the tensors that it returned, else those that it was given."""
        if out is None:
            missing = [o["name"] for o, _ in self.outputs if o["name"].lower() not in self.writes]
            if missing:
                raise OwnError(
                    f"its call returned nothing and was given no {missing[0]}: return the output, or"
                    f" take a parameter {missing[0]} and write it"
                )
            return [tensor for _, tensor in self.outputs]
        several = list(out) if isinstance(out, (list, tuple)) else [out]
        if not all(is_tensor(one) for one in several):
            raise OwnError(f"its call returned {type(out).__name__}: return tensors or nothing")
        tensors = [one if isinstance(one, torch.Tensor) else torch.from_dlpack(one) for one in several]
        wanted = [f"{dtype_of(o)} [{o['rows']}, {o['cols']}]" for o, _ in self.outputs]
        found = [f"{t.dtype} [{', '.join(map(str, t.shape))}]" for t in tensors]
        if found != wanted:
            raise WrongOutput(f"its call returned {' and '.join(found)}, not {' and '.join(wanted)}")
        return tensors

    def demand_padding(self):
        """Refuses a call that wrote between the rows of an output."""
        for operand, raw in self.padded:
            row, used = (operand[name] * dtype_of(operand).itemsize for name in ("ld", "cols"))
            data = raw.cpu().numpy().tobytes()
            if any(data[at + used : at + row].strip(b"\xff") for at in range(0, len(data), row)):
                raise WrongOutput(f"its call wrote the padding between the rows of {operand['name']}")


def is_tensor(value):
    """Whether a value is a tensor of torch or of another library."""
    return isinstance(value, torch.Tensor) or hasattr(value, "__dlpack__")
