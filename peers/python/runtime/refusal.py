"""Why this Python cannot measure anything, found out without the seconds that torch takes to start."""

import importlib.metadata
import importlib.util
import sys

from runtime.driver import load_library


def version_of(package):
    """The version of an installed package, or None where there is none."""
    if importlib.util.find_spec(package) is None:
        return None
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        # Installed by other means than a Python package.
        return getattr(importlib.import_module(package), "__version__", "unknown")


def reason_of_refusal():
    """What is missing here, or an empty text."""
    for package in ("torch", "triton"):
        if version_of(package) is None:
            return f"{sys.executable} has no {package}"
    if load_library("libcuda.so.1") is None:
        return "no CUDA driver: libcuda.so.1 is missing"
    return ""
