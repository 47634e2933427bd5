"""Measures PyTorch and Triton at matrix products, for mnkbench: see docs/guide/peers.md.

The harness starts it with a job on standard input; it answers in lines of JSON. It compiles ahead in
several processes, then measures in this one, with nothing else at work on the device.
"""

import hashlib
import importlib.metadata
import importlib.util
import os
import sys
import threading
import traceback

from runtime.channel import Channel
from runtime.compile_workers import COMPILE, run_compile_workers, work_on_tasks
from runtime.driver import Driver, Session, load_library
from runtime.planning import Choices, choice_key, tasks_of
from runtime.problem import Operations, Problem
from runtime.stopwatch import open_steady


def version_of(package):
    """The version of an installed package, or None where there is none."""
    if importlib.util.find_spec(package) is None:
        return None
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        # Installed by other means than a Python package.
        return getattr(importlib.import_module(package), "__version__", "unknown")


def reason_of_refusal(cases):
    """Names the part that is missing here; an empty text where none is."""
    own = all(case["kind"] == "own" for case in cases)
    for package in ("torch",) if own else ("torch", "triton"):
        if version_of(package) is None:
            return f"{sys.executable} has no {package}"
    if load_library("libcuda.so.1") is None:
        return "no CUDA driver: libcuda.so.1 is missing"
    return ""


def main():
    channel = Channel()
    job = channel.job
    reason = reason_of_refusal(job["cases"])
    if reason:
        channel.say("refused", reason=reason)
        return 0
    triton = version_of("triton") or ""
    versions = [version_of("torch"), triton, job["device_name"], job["sources"]]
    # A change of anything that decides starts with empty caches: choices and binaries stay together.
    cache = os.path.join(job["cache_dir"], hashlib.sha256("\n".join(versions).encode()).hexdigest()[:12])
    os.makedirs(cache, exist_ok=True)
    for name, folder in (("TORCHINDUCTOR_CACHE_DIR", "inductor"), ("TRITON_CACHE_DIR", "triton")):
        os.environ[name] = os.path.join(cache, folder)
    # Before torch, which takes the context that it finds, and before anything else is at work.
    driver = Driver()
    session, stopwatch, openings = open_steady(lambda: Session(driver, job["device"], job))
    channel.log(f"kept context {openings}")
    job["lock"] = os.path.join(cache, "gpu.lock")
    setup = {
        "device": job["device"],
        "flush_bytes": job["flush_bytes"],
        "choices": os.path.join(cache, "choices"),
        "lock": job["lock"],
        "ops": job["ops"],
    }
    choices = Choices(setup["choices"])
    problems = {fields["id"]: Problem(fields) for fields in job["problems"]}
    known = {case["id"] for case in job["cases"] if choices.get(*choice_key(case, problems[case["problem"]]))}
    operations = Operations(job["ops"])
    tasks = tasks_of(
        job["cases"],
        problems,
        lambda case: case["id"] in known,
        lambda problem: operations.load(problem, "plan"),
        session.units,
    )

    def compile_ahead():
        total = len(tasks)
        run_compile_workers(tasks, setup, lambda done: channel.say("build", done=done, total=total))

    ahead = threading.Thread(target=compile_ahead if len(tasks) > 1 else lambda: None)
    ahead.start()

    import torch

    if not torch.cuda.is_available():
        channel.say("refused", reason=f"the torch {torch.__version__} of {sys.executable} cannot use the GPU")
        return 0
    torch.cuda.set_device(job["device"])
    with torch.inference_mode():
        from runtime.measuring import Measuring

        measuring = Measuring(channel, (session, stopwatch), (choices, problems, operations, known), triton)
        ahead.join()
        return measuring.measure()


def run():
    """Measures, and ends this process."""
    code = 1
    try:
        code = main()
    except BaseException:
        traceback.print_exc()
    finally:
        # Not by the interpreter's own way out: threads of compilers and of users would be waited for.
        os._exit(code)


if __name__ == "__main__":
    if sys.argv[1:] == [COMPILE]:
        work_on_tasks()
    else:
        run()
