"""Keeps several compiling processes busy until all that a run needs is in the caches."""

import json
import os
import queue
import subprocess
import sys
import threading

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
    root = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    program = os.path.join(root, "compile_worker.py")

    def work():
        process = subprocess.Popen(
            [sys.executable, "-u", "-B", program],
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
