"""Clocks, power, temperature and throttling by NVIDIA's management library, as backends/cuda/nvml.ts."""

import ctypes as c

CLOCK_SM, CLOCK_MEM, TEMPERATURE_GPU = 1, 2, 0
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


def open_telemetry(bus_id):
    """What reads the device at `bus_id` now; a figure that it does not give is left out."""
    try:
        nvml = c.CDLL("libnvidia-ml.so.1")
    except OSError:
        return dict
    device = c.c_void_p()
    if nvml.nvmlInit_v2() or nvml.nvmlDeviceGetHandleByPciBusId_v2(bus_id.encode(), c.byref(device)):
        return dict

    def figure(kind, name, *args):
        value = kind()
        status = getattr(nvml, name)(device, *args, c.byref(value))
        return None if status else value.value

    def read():
        milliwatts = figure(c.c_uint, "nvmlDeviceGetPowerUsage")
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
