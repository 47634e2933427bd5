"""Problems, the modules of their operations, and operators that a torch may lack; needs no torch.

The module of an operation has `operands_of(problem, inputs)`, which makes tensors of stored bytes, and
`CALLS`: a function `(problem, operands) -> (call, config)` for each peer that is called as it is.
One with compiled peers also has `random_operands(problem)` and `model_of(peer, problem, group)`.

One with searched peers has two more modules. `plan` needs no torch: `configs_of(peer, problem, units)`
and `binaries_of(peer, problem, config)`. `search` has `search(peer, problem, operands, rig)`,
`candidate(peer, problem, operands, config)` and `compile_config(peer, problem, config)`.
"""

import importlib
import os
import sys
import types


# Fields that do not decide, or that others say too.
UNSAID = ("id", "axes", "stored")


class Problem:
    """An operation at one point; the fields that the harness describes it with are attributes."""

    def __init__(self, fields):
        self.fields = fields
        self.__dict__.update(fields)

    @property
    def text(self):
        """All that decides what is compiled for it."""
        return " ".join(f"{k}={v}" for k, v in sorted(self.fields.items()) if k not in UNSAID)

    def at(self, m):
        """The same at another M."""
        return Problem({**self.fields, "m": m})


class Operations:
    """The Python modules of each operation, from the paths in the job."""

    def __init__(self, files):
        self.files = files

    def load(self, problem, part="module"):
        """A module of the problem's operation, imported when it is first asked for."""
        path = self.files[problem.op][part]
        package = "op_" + problem.op.replace("-", "_")
        if package not in sys.modules:
            # Its folder is a package, so that operations may have files of the same name.
            sys.modules[package] = types.ModuleType(package)
            sys.modules[package].__path__ = [os.path.dirname(path)]
        return importlib.import_module(f"{package}.{os.path.basename(path).removesuffix('.py')}")


class Unsupported(RuntimeError):
    """An operator that this torch lacks; its text is the note of the row."""


def operator(torch, name, arguments):
    """The operator `aten::name` of `torch`; its arguments have these names, and others are optional.

    They are private to torch, so that a version may lack one or give it other arguments.
    """
    packet = getattr(torch.ops.aten, name, None)
    if packet is None:
        raise Unsupported(f"torch {torch.__version__} has no aten::{name}")
    found = packet.default
    given = [argument.name for argument in found._schema.arguments]
    if given[: len(arguments)] != arguments:
        told = f"({', '.join(given)}), not ({', '.join(arguments)})"
        raise Unsupported(f"aten::{name} of torch {torch.__version__} takes {told}")
    return found
