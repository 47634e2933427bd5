"""The harness's way of timing (bench/measure/time.ts, bench/measure/open_stable.ts), in Python.

A test compares the constants here with those there.
"""

import statistics
from bisect import bisect_left, bisect_right

PHASES = 16
EXPLAINED = 30.58
MOST_SHIFT = 0.25
LEAST_SAMPLES = 10
MOST_SAMPLES = 10_000
ESTIMATES = 5
NUDGE_EVERY = PHASES // 4

WINDOW_MS = 4
AGREEMENT = 0.01
CASE_WARM_MS = 200

CHAIN = 3
CHAIN_BYTES = 1 << 20
CHAIN_SAMPLES = 16 * PHASES
FIRST_WARM_MS = 150
AS_GOOD = 1.01
OPENINGS = 5
PATIENCE = 4


def phased_median(samples):
    """The mean of the medians of each residue where residues explain the spread, else the median."""
    plain = statistics.median(samples)
    if len(samples) < 2 * PHASES or not residues_differ(samples):
        return plain
    mean = statistics.mean(statistics.median(samples[phase::PHASES]) for phase in range(PHASES))
    return plain if abs(mean - plain) > MOST_SHIFT * plain else mean


def residues_differ(samples):
    """A Kruskal-Wallis test."""
    ordered = sorted(samples)
    ranks = [(bisect_left(ordered, x) + bisect_right(ordered, x) - 1) / 2 for x in samples]
    center = statistics.mean(ranks)
    groups = [ranks[phase::PHASES] for phase in range(PHASES)]
    between = sum(len(own) * (statistics.mean(own) - center) ** 2 for own in groups)
    squares = sum((rank - center) ** 2 for rank in ranks)
    return between * (len(samples) - 1) > EXPLAINED * squares


class Stopwatch:
    """Events of a session, made once and used for every series."""

    def __init__(self, session):
        self.session = session
        self.nudge = session.nudge()
        self.record = session.driver.library.cuEventRecord
        self.events = []

    def take(self, count, run, flush):
        """Nanoseconds of exactly `count` samples, in order."""
        while len(self.events) < count:
            self.events.append((self.session.event(), self.session.event()))
        record, stream, nudge = self.record, self.session.stream, self.nudge
        for i in range(count):
            start, end = self.events[i]
            if i % NUDGE_EVERY == NUDGE_EVERY - 1:
                nudge()
            if flush is not None:
                flush()
            record(start, stream)
            run()
            record(end, stream)
        self.session.synchronize()
        return [self.session.nanoseconds(*self.events[i]) for i in range(count)]

    def sample(self, run, flush, warmup, rep):
        """As do_bench: an estimate with its flush, an unflushed warm-up, `rep` ms of samples."""
        run()
        self.session.synchronize()

        def estimates():
            for _ in range(ESTIMATES):
                if flush is not None:
                    flush()
                run()

        estimate = max(1, self.take(1, estimates, None)[0] / ESTIMATES)

        def count(ms, least):
            return min(MOST_SAMPLES, max(least, int(ms * 1e6 / estimate)))

        for _ in range(count(warmup, 1)):
            run()
        return self.take(count(rep, LEAST_SAMPLES), run, flush)

    def warm(self, filler, least_ms=0, most_ms=1000):
        """Runs `filler` until two windows in a row take the same time."""

        def window(count):
            def run():
                for _ in range(count):
                    filler()

            return self.take(1, run, None)[0] / 1e6

        one = max(window(1), 1e-3)
        count = max(1, round(WINDOW_MS / one))
        spent, last = one, float("nan")
        while spent < most_ms:
            now = window(count)
            spent += now
            if spent >= least_ms and abs(now - last) < AGREEMENT * now:
                break
            last = now


def open_steady(make):
    """A session whose launches cost what they cost at best, a stopwatch for it, and which one it is."""
    best = float("inf")
    for opening in range(1, OPENINGS * PATIENCE + 1):
        session = make()
        stopwatch = Stopwatch(session)
        if not session.module:
            return session, stopwatch, opening
        stopwatch.warm(session.filler(), FIRST_WARM_MS if opening == 1 else 0)
        load = session.load(CHAIN_BYTES)

        def chain(step=load):
            for _ in range(CHAIN):
                step()

        time = phased_median(stopwatch.take(CHAIN_SAMPLES, chain, session.flush("zero")))
        best = min(best, time)
        good = time <= AS_GOOD * best and opening >= OPENINGS
        if good or opening == OPENINGS * PATIENCE:
            return session, stopwatch, opening
        session.close()
