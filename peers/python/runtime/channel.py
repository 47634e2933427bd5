"""Exchanges lines of JSON with the harness.

The harness writes the job, then for each problem where its inputs are, and closes its end when it
is gone. Whatever libraries print goes to standard error: the true standard output is kept aside.
"""

import contextlib
import json
import os
import sys
import threading
import time

# Often enough for the least --timeout. A compilation that takes longer than ten minutes is lost.
BEAT_SECONDS = 0.05
BEATS = 12000


class Channel:
    """The two ends. Losing the harness ends this program at once."""

    def __init__(self):
        self.out = os.fdopen(os.dup(1), "w", encoding="utf-8")
        self.saying = threading.Lock()
        os.dup2(2, 1)
        sys.stdout = sys.stderr
        self.job = json.loads(sys.stdin.readline())
        self.start = time.monotonic()
        self.inputs = {}
        self.news = threading.Condition()
        threading.Thread(target=self.listen, daemon=True).start()

    def listen(self):
        for line in sys.stdin:
            message = json.loads(line)
            with self.news:
                self.inputs[message["problem"]] = message["inputs"]
                self.news.notify_all()
        os._exit(3)

    def say(self, event, **fields):
        self.send(event, **fields)
        told = " ".join(f"{k}={v}" for k, v in fields.items() if k in ("id", "done", "status", "note"))
        self.log(f"{event} {told}")

    def send(self, event, **fields):
        """As `say`, but leaves it out of the log."""
        with self.saying:
            self.out.write(json.dumps({"event": event, **fields}) + "\n")
            self.out.flush()

    def log(self, text):
        """A line for the log that the harness keeps of standard error."""
        print(f"[{time.monotonic() - self.start:.1f} s] {text}", flush=True)

    @contextlib.contextmanager
    def alive(self, note):
        """Says now and then that it is at work, for as long as `note` may take."""
        over = threading.Event()

        def beat():
            self.log(f"progress note={note}")
            for _ in range(BEATS):
                self.send("progress", note=note)
                if over.wait(BEAT_SECONDS):
                    return

        thread = threading.Thread(target=beat, daemon=True)
        thread.start()
        try:
            yield
        finally:
            over.set()
            thread.join()

    def inputs_of(self, problem):
        """The files with the inputs of problem number `problem`; waits until they are there."""
        with self.news:
            self.news.wait_for(lambda: problem in self.inputs)
            return self.inputs[problem]
