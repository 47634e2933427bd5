"""What becomes of an exception: a status of a row and its note."""

import torch

from runtime.capture import CaptureError
from runtime.operators import Unsupported


def failure_of(error):
    """An exception as a status and a line."""
    text = " ".join(f"{type(error).__name__}: {error}".split())[:600]
    if isinstance(error, torch.cuda.OutOfMemoryError):
        return {"status": "oom", "note": text}
    if isinstance(error, (Unsupported, NotImplementedError)):
        return {"status": "unsupported", "note": text}
    if isinstance(error, CaptureError) or "CUDA error" in text or "cuStreamSynchronize failed" in text:
        return {"status": "launch", "note": text}
    return {"status": "compile", "note": text}
