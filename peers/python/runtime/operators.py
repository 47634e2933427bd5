"""Operators that a torch may or may not have; needs no torch to be imported."""


class Unsupported(RuntimeError):
    """What this torch cannot do, as the row says it."""


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
