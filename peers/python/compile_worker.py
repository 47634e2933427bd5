"""One of several processes that compile ahead of the measuring one, into the caches that all share.

Tasks come as lines on standard input; each is answered with a line.
"""

import json
import os
import sys
import time
import traceback


def main():
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    setup = json.loads(sys.stdin.readline())
    # The measuring process goes first where there is no core for both.
    os.nice(5)

    import torch

    from runtime.choices import Choices
    from runtime.compiling import Compiling
    from ops.decompose import compile_config
    from runtime.gpu import GpuLock, replace_benchmark, use_ieee
    from runtime.problems import problem_of
    from runtime.products import product_of

    torch.cuda.set_device(setup["device"])
    use_ieee()
    lock = GpuLock(setup["lock"])
    replays = replace_benchmark(lock, setup["flush_bytes"])
    compiling = Compiling(Choices(setup["choices"]), lock)
    for line in sys.stdin:
        task = json.loads(line)
        start = time.monotonic()
        lock.waited = lock.held = 0.0
        replays.count = replays.refused = 0
        try:
            problem = problem_of(task["problem"])
            # Not the default stream, which no graph can be captured on.
            with torch.inference_mode(), torch.cuda.stream(torch.cuda.Stream()):
                if task["config"]:
                    compile_config(task["kind"], problem, task["config"])
                else:
                    operands = product_of(problem).random_operands(problem)
                    compiling.call(task["peer"], problem, operands, task["group"])
                torch.cuda.synchronize()
        except Exception:
            # The measuring process meets the same and makes a row of it.
            traceback.print_exc()
        took = time.monotonic() - start
        if took > 1:
            shares = (
                f"{lock.waited:.1f} s waiting for and {lock.held:.1f} s at the device,"
                f" {replays.count} benchmarks, {replays.refused} not recorded"
            )
            print(f"compile worker {os.getpid()}: {task['peer']} {took:.1f} s, {shares}", flush=True)
        answers.write("done\n")
        answers.flush()


if __name__ == "__main__":
    main()
