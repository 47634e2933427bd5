"""Compiles ahead in several processes, into the caches that the measuring process shares."""

import json
import os
import queue
import subprocess
import sys
import threading
import time
import traceback

from runtime.planning import Choices
from runtime.problem import Operations, Problem

# The argument with which this program is a compiling process.
COMPILE = "compile"
MOST_WORKERS = 14


def run_compile_workers(tasks, setup, tell):
    """Does `tasks` in processes of their own and calls `tell(done)` after each.

    A worker that dies takes its task with it: whatever is missing is compiled when it is measured.
    """
    cores = len(os.sched_getaffinity(0))
    count = max(1, min(MOST_WORKERS, cores - 1, len(tasks)))
    waiting = queue.SimpleQueue()
    for task in tasks:
        waiting.put(task)
    done = iter(range(1, len(tasks) + 1))
    lock = threading.Lock()
    threads = max(1, cores // count)
    environment = dict(os.environ, TORCHINDUCTOR_COMPILE_THREADS=str(threads))

    def work():
        process = subprocess.Popen(
            [sys.executable, "-u", "-B", sys.argv[0], COMPILE],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env=environment,
        )
        try:
            process.stdin.write(json.dumps(setup) + "\n")
            while True:
                task = waiting.get_nowait()
                process.stdin.write(json.dumps(task) + "\n")
                process.stdin.flush()
                if not process.stdout.readline():
                    return
                with lock:
                    tell(next(done))
        except (queue.Empty, BrokenPipeError):
            return
        finally:
            end(process)

    threads_of_workers = [threading.Thread(target=work) for _ in range(count)]
    for one in threads_of_workers:
        one.start()
    for one in threads_of_workers:
        one.join()


def end(process):
    """Lets a worker end by itself, as it does at the end of its input; kills it where it does not."""
    try:
        process.stdin.close()
    except BrokenPipeError:
        pass
    try:
        process.wait(20)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


def work_on_tasks():
    """One of these processes: does the tasks of its standard input, and answers each with a line."""
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    setup = json.loads(sys.stdin.readline())
    # The measuring process goes first where there is no core for both.
    os.nice(5)

    import torch

    from runtime.compiling import Compiling
    from runtime.gpu import GpuLock, replace_benchmark, use_ieee

    torch.cuda.set_device(setup["device"])
    use_ieee()
    lock = GpuLock(setup["lock"])
    replays = replace_benchmark(lock, setup["flush_bytes"])
    operations = Operations(setup["ops"])
    compiling = Compiling(Choices(setup["choices"]), lock, operations)
    for line in sys.stdin:
        task = json.loads(line)
        start = time.monotonic()
        lock.waited = lock.held = 0.0
        replays.count = replays.refused = 0
        try:
            problem = Problem(task["problem"])
            # Not the default stream, which no graph can be captured on.
            with torch.inference_mode(), torch.cuda.stream(torch.cuda.Stream()):
                if task["config"]:
                    search = operations.load(problem, "search")
                    search.compile_config(task["peer"], problem, task["config"])
                else:
                    operands = operations.load(problem).random_operands(problem)
                    compiling.call(task, problem, operands)
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
