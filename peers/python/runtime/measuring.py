"""The measuring process: each case compiled or found in the caches, checked, replayed and sampled."""

import gc
import os
import time

import torch

from runtime.driver import is_lowered, open_telemetry
from runtime.gpu import Captured, GpuLock, failure_of, replace_benchmark, use_ieee
from runtime.own import Files, Own
from runtime.operands import Loaded, bytes_of, poison
from runtime.planning import choice_key
from runtime.stopwatch import CASE_WARM_MS, phased_median

# Cases after which what compilers left behind is collected: a collection takes half a second.
COLLECT_EVERY = 40


class Measuring:
    """All that consecutive cases share."""

    def __init__(self, channel, device, plan, triton):
        """`triton` is its version; empty where there is none, which functions of users may not need."""
        self.channel = channel
        self.session, self.stopwatch = device
        self.choices, self.problems, self.operations, self.known = plan
        use_ieee()
        session, job = self.session, channel.job
        self.job = job
        self.units = session.units
        self.stream = torch.cuda.ExternalStream(session.stream.value)
        self.filler = session.filler()
        self.flush = session.flush(job["flush"]) if job["cache"] == "cold" else None
        self.telemetry = open_telemetry(session.driver.bus_id(session.device))
        self.lock = GpuLock(job["lock"])
        self.files = Files()
        self.loaded = None
        self.triton = triton
        if triton:
            from runtime.compiling import Compiling

            self.compiling = Compiling(self.choices, self.lock, self.operations)
        channel.say("hello", torch=torch.__version__, triton=triton)

    def measure(self):
        """Each case in its turn. Returns the exit code."""
        if self.triton:
            replace_benchmark(self.lock, self.job["flush_bytes"])
        gc.collect()
        gc.freeze()
        gc.disable()
        with torch.cuda.stream(self.stream):
            for i, case in enumerate(self.job["cases"], 1):
                self.channel.say("case", id=case["id"])
                try:
                    # A function of a user may have said otherwise.
                    use_ieee()
                    self.load(case["problem"])
                    result = {"status": "ok", **self.run(case)}
                except (Exception, SystemExit) as error:
                    result = failure_of(error, case.get("file"))
                if result["status"] != "ok" or result["changed"] is not None:
                    # The next case gets inputs that nobody has touched.
                    self.loaded = None
                self.channel.say("result", id=case["id"], **result)
                if result["status"] == "launch":
                    # The context may be gone with it: the harness starts another process.
                    return 0
                if i % COLLECT_EVERY == 0:
                    gc.collect()
        self.channel.say("done")
        return 0

    def load(self, number):
        if self.loaded is None or self.loaded.problem.id != number:
            self.loaded = None
            problem = self.problems[number]
            inputs = self.channel.inputs_of(number)
            self.loaded = Loaded(problem, self.operations, inputs)

    def median(self, count, run):
        """The median of a few cold samples, for a search."""
        return phased_median(self.stopwatch.take(count, run, self.flush))

    def choose(self, case):
        """A call of the case's peer, and what the row says of how it was chosen."""
        peer, problem = case["peer"], self.loaded.problem
        if case["kind"] == "own":
            function = self.files.function(case["file"], case["entry"])
            own = Own(function, problem, self.loaded.storages)
            call, config = own.call()
            return call, {"config": config, "tried": 0, "ms": 0, "check": own.demand_padding}
        operands = self.loaded.operands
        if case["kind"] == "call":
            call, config = self.operations.load(problem).CALLS[peer](problem, operands)
            return call, {"config": config, "tried": 0, "ms": 0}
        if case["kind"] == "search":
            return self.search(case, problem, operands)
        self.stopwatch.warm(self.filler, most_ms=CASE_WARM_MS)
        with self.channel.alive("compiling"):
            return self.compiling.call(case, problem, operands)

    def search(self, case, problem, operands):
        """The same for a peer with configs of its own: the one that is kept, or else the fastest."""
        module = self.operations.load(problem, "search")
        key = choice_key(case, problem)
        known = self.choices.get(*key)
        if known is None:
            self.channel.say("progress", note="searching")
            self.stopwatch.warm(self.filler, most_ms=CASE_WARM_MS)
            best, tried, ms = module.search(case["peer"], problem, operands, self)
            known = {"config": best.text, "tried": tried, "ms": ms, "own": best.config}
            self.choices.put(known, *key)
        return module.candidate(case["peer"], problem, operands, known["own"]), known

    def run(self, case):
        """One case: twice checked, warmed, sampled, checked once more."""
        job = self.job
        start = time.monotonic()
        call, known = self.choose(case)
        outputs = [bytes_of(call())]
        captured = Captured(self.stream, call)
        poison(captured.out)
        captured.replay()
        outputs.append(bytes_of(captured.out))
        if job["check_only"]:
            samples, telemetry = [], {}
            chosen = sampled = time.monotonic()
        else:
            chosen, sampled, samples, telemetry = self.sample(captured)
        outputs.append(bytes_of(captured.out))
        known.get("check", lambda: None)()
        return {
            "config": known["config"],
            "cached": case["id"] in self.known,
            "tried": known["tried"],
            "search_ms": known["ms"],
            "changed": self.loaded.changed(),
            "outputs": self.write(case["id"], outputs),
            "samples": samples,
            "chosen_ms": 1000 * (chosen - start),
            "spent_ms": 1000 * (sampled - chosen),
            "telemetry": telemetry,
        }

    def sample(self, captured):
        """When samples began and ended, their nanoseconds, and the device's state."""
        job = self.job
        self.stopwatch.warm(self.filler, most_ms=CASE_WARM_MS)
        poison(captured.out)
        chosen = time.monotonic()
        for _ in range(2):
            samples = self.stopwatch.sample(captured.replay, self.flush, job["warmup"], job["rep"])
            sampled = time.monotonic()
            telemetry = self.telemetry()
            if not is_lowered(telemetry):
                break
        return chosen, sampled, samples, telemetry

    def write(self, number, outputs):
        """The files with the outputs; the same one for the same bytes."""
        paths = {}
        for i, raw in enumerate(outputs):
            if raw not in paths:
                paths[raw] = os.path.join(self.job["scratch"], f"out{number}.{i}")
                with open(paths[raw], "wb") as file:
                    file.write(raw)
        return [paths[raw] for raw in outputs]
