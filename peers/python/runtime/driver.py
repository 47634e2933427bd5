"""CUDA's driver and NVML by ctypes: a context before torch has one, the calls of a sample, and telemetry.

The harness times through the driver, and opens a device until its launches cost what they cost at
best (bench/measure/open_stable.ts). torch uses the primary context of the process, so the same is
done here before torch starts: torch gets the context that is retained when it starts.
"""

import ctypes as c

OUT_OF_MEMORY = 2
NON_BLOCKING = 1
THREADS = 256
FILLER_ITERATIONS = 20_000
# Bytes that one block of the load kernel reads: 128 threads of 8 float4.
LOAD_BLOCK = 16 * 1024

# Of nvml.h, as backends/cuda/nvml.ts has them.
CLOCK_SM, CLOCK_MEM, TEMPERATURE_GPU = 1, 2, 0
POWER_INSTANT = 186
THROTTLE = [
    (0x2, "applications_clocks_setting"),
    (0x4, "sw_power_cap"),
    (0x8, "hw_slowdown"),
    (0x10, "sync_boost"),
    (0x20, "sw_thermal_slowdown"),
    (0x40, "hw_thermal_slowdown"),
    (0x80, "hw_power_brake_slowdown"),
    (0x100, "display_clock_setting"),
]


# Reasons that are settings, the same for all rows (bench/row/row.ts).
SETTINGS = {"applications_clocks_setting", "display_clock_setting", "sync_boost", ""}


class FieldValue(c.Structure):
    """nvmlFieldValue_t of a field that is an unsigned int."""

    _fields_ = [
        ("field", c.c_uint),
        ("scope", c.c_uint),
        ("timestamp", c.c_longlong),
        ("latency", c.c_longlong),
        ("type", c.c_int),
        ("status", c.c_int),
        ("value", c.c_uint),
        ("rest", c.c_uint),
    ]


class DriverError(RuntimeError):
    """A call of the driver that failed."""


def load_library(name):
    """The library `name`, or None where there is none."""
    try:
        return c.CDLL(name)
    except OSError:
        return None


class Driver:
    """The driver's functions, each of which raises where it fails."""

    def __init__(self, library="libcuda.so.1"):
        self.library = c.CDLL(library)
        self.call("cuInit", c.c_uint(0))

    def call(self, name, *args):
        status = getattr(self.library, name)(*args)
        if status:
            text = c.c_char_p()
            self.library.cuGetErrorName(status, c.byref(text))
            raise DriverError(f"{name} failed: {(text.value or b'?').decode()} ({status})")

    def out(self, kind, name, *args):
        """Calls `name` and returns the value that it writes to its first argument."""
        value = kind()
        self.call(name, c.byref(value), *args)
        return value

    def bus_id(self, device):
        """e.g. `00000000:01:00.0`."""
        text = c.create_string_buffer(32)
        self.call("cuDeviceGetPCIBusId", text, 32, device)
        return text.value.decode()


class Session:
    """The primary context of a device, one stream, and the harness's own kernels in it.

    `instruments` is the binary that the harness built; without one there is nothing to nudge, warm
    or choose a context with, as in the harness itself.
    """

    def __init__(self, driver, index, job):
        self.driver = driver
        self.device = driver.out(c.c_int, "cuDeviceGet", index)
        context = driver.out(c.c_void_p, "cuDevicePrimaryCtxRetain", self.device)
        driver.call("cuCtxSetCurrent", context)
        self.stream = driver.out(c.c_void_p, "cuStreamCreate", NON_BLOCKING)
        self.units = job["units"]
        self.flush_bytes = job["flush_bytes"]
        self.buffer = self.alloc(self.flush_bytes)
        self.sink = self.alloc(4096)
        self.module = None
        if job["instruments"]:
            with open(job["instruments"], "rb") as file:
                self.module = driver.out(c.c_void_p, "cuModuleLoadData", file.read())

    def alloc(self, size):
        memory = self.driver.out(c.c_uint64, "cuMemAlloc_v2", c.c_size_t(size))
        self.driver.call("cuMemsetD8Async", memory, 0, c.c_size_t(size), self.stream)
        return memory

    def kernel(self, entry, args, blocks, threads=THREADS):
        """Returns a function that launches an entry of the harness's binary."""
        function = self.driver.out(c.c_void_p, "cuModuleGetFunction", self.module, entry.encode())
        pointers = (c.c_void_p * max(1, len(args)))(*(c.addressof(a) for a in args))
        launch, stream = self.driver.library.cuLaunchKernel, self.stream
        fixed = (function, blocks, 1, 1, threads, 1, 1, 0, stream, pointers, None)

        def run(_alive=args):
            if launch(*fixed):
                raise DriverError(f"cannot launch the harness's own kernel {entry}")

        return run

    def nudge(self):
        """A launch that does nothing; nothing without kernels."""
        return self.kernel("empty", [], 1, 32) if self.module else lambda: None

    def filler(self):
        """Arithmetic on all units for a fraction of a millisecond; a flush without kernels."""
        if not self.module:
            return self.flush("zero")
        return self.kernel("filler", [self.sink, c.c_int(FILLER_ITERATIONS)], self.units * 2)

    def load(self, size):
        """A launch that reads `size` bytes."""
        args = [self.buffer, c.c_longlong(size), self.sink]
        return self.kernel("load_only", args, -(-size // LOAD_BLOCK), 128)

    def flush(self, kind):
        """Returns a function that makes the cache cold."""
        if kind == "read":
            args = [self.buffer, c.c_longlong(self.flush_bytes), self.sink]
            return self.kernel("read_flush", args, self.units * 8)
        fill, size = self.driver.library.cuMemsetD8Async, c.c_size_t(self.flush_bytes)

        def run():
            if fill(self.buffer, 0, size, self.stream):
                raise DriverError("cannot queue the flush")

        return run

    def synchronize(self):
        self.driver.call("cuStreamSynchronize", self.stream)

    def event(self):
        return self.driver.out(c.c_void_p, "cuEventCreate", 0)

    def nanoseconds(self, start, end):
        ms = self.driver.out(c.c_float, "cuEventElapsedTime", start, end)
        return round(ms.value * 1e6)

    def close(self):
        """Gives the context up: retaining it again draws another place for its queue."""
        self.driver.call("cuDevicePrimaryCtxRelease_v2", self.device)


def is_lowered(telemetry):
    """Whether the GPU lowered its clocks by itself."""
    return not SETTINGS.issuperset(telemetry.get("throttle", "").split("+"))


def open_telemetry(bus_id):
    """A function that reads the device at `bus_id` now; figures that it does not give are left out."""
    nvml = load_library("libnvidia-ml.so.1")
    if nvml is None:
        return dict
    device = c.c_void_p()
    if nvml.nvmlInit_v2() or nvml.nvmlDeviceGetHandleByPciBusId_v2(bus_id.encode(), c.byref(device)):
        return dict

    def figure(kind, name, *args):
        value = kind()
        status = getattr(nvml, name)(device, *args, c.byref(value))
        return None if status else value.value

    def power():
        """Milliwatts at the moment; None from a library or a GPU without that."""
        value = FieldValue(field=POWER_INSTANT)
        ask = getattr(nvml, "nvmlDeviceGetFieldValues", None)
        known = ask is not None and ask(device, 1, c.byref(value)) == 0 and value.status == 0
        return value.value if known else None

    def read():
        milliwatts = power()
        bits = figure(c.c_ulonglong, "nvmlDeviceGetCurrentClocksThrottleReasons")
        figures = {
            "sm_mhz": figure(c.c_uint, "nvmlDeviceGetClockInfo", CLOCK_SM),
            "mem_mhz": figure(c.c_uint, "nvmlDeviceGetClockInfo", CLOCK_MEM),
            "power_w": None if milliwatts is None else milliwatts / 1000,
            "temp_c": figure(c.c_uint, "nvmlDeviceGetTemperature", TEMPERATURE_GPU),
            "throttle": None
            if bits is None
            else "+".join(name for bit, name in THROTTLE if bits & bit),
        }
        return {name: value for name, value in figures.items() if value is not None}

    return read
