"""The program of peers with the torch of testdata/stub/, no driver, and samples of 5 us."""

import os
import sys
import types

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.join(HERE, "../python"), os.path.join(HERE, "stub")]

from runtime import driver  # noqa: E402


class Driver:
    library = types.SimpleNamespace(cuEventRecord=lambda event, stream: None)

    def bus_id(self, device):
        return ""


class Session:
    module, device, units = None, 0, 1

    def __init__(self, driver, index, job):
        self.driver = driver
        self.stream = types.SimpleNamespace(value=None)

    def nudge(self):
        return lambda: None

    def flush(self, kind):
        return lambda: None

    filler = nudge

    def synchronize(self):
        pass

    def event(self):
        return None

    def nanoseconds(self, start, end):
        return 5_000


driver.Driver, driver.Session = Driver, Session
driver.load_library = lambda name: None if "nvidia" in name else True

import peers  # noqa: E402

if __name__ == "__main__":
    peers.run()
