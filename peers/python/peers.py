"""Measures PyTorch and Triton at matrix products, for mnkbench: see docs/guide/peers.md.

Started by the harness with a job on standard input; says what it finds in lines of JSON. Compiles
ahead in several processes, then measures in this one, with nothing else at work on the device.
"""

import hashlib
import os
import sys
import threading
import traceback

from runtime.channel import Channel
from runtime.choices import Choices, hash_of_sources
from runtime.driver import Driver, Session
from runtime.compile_workers import run_compile_workers
from runtime.planning import choice_key, tasks_of
from runtime.problems import problem_of
from runtime.refusal import reason_of_refusal, version_of
from runtime.stopwatch import open_steady


def main():
    channel = Channel()
    job = channel.job
    reason = reason_of_refusal()
    if reason:
        channel.say("refused", reason=reason)
        return 0
    versions = [version_of("torch"), version_of("triton"), job["device_name"], hash_of_sources()]
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
    }
    choices = Choices(setup["choices"])
    problems = {fields["id"]: problem_of(fields) for fields in job["problems"]}
    known = {case["id"] for case in job["cases"] if choices.get(*choice_key(case, problems[case["problem"]]))}
    tasks = tasks_of(job["cases"], problems, lambda case: case["id"] in known, session.units)

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

        measuring = Measuring(channel, (session, stopwatch), (choices, problems, known))
        ahead.join()
        return measuring.measure()


if __name__ == "__main__":
    try:
        code = main()
    except Exception:
        traceback.print_exc()
        code = 1
    sys.stderr.flush()
    # Not by the interpreter's own way out: threads of compilers would be waited for.
    os._exit(code)
