import { deepStrictEqual, strictEqual } from "node:assert/strict";
import type { Device } from "../../bench/device/device.ts";
import {
  build,
  ccTest,
  driverControls,
  driverPath,
} from "../testdata/mocks.ts";
import { cuda } from "./cuda.ts";

/** The device of a driver with the management library at `path`, and its backend. */
function opened(nvml: readonly string[]) {
  driverControls().reset();
  const backend = cuda({ driver: [driverPath()], nvml });
  const info = backend.find().devices[0]!;
  return { backend, info };
}

function mockNvml() {
  const path = build("libnvidia-ml.so.1", ["cuda/nvml.c"]);
  const { symbols } = Deno.dlopen(path, {
    mock_throttle: { parameters: ["u64"], result: "void" },
    mock_no_power: { parameters: ["i32"], result: "void" },
    mock_lowered: { parameters: ["i32", "u64"], result: "void" },
    mock_process: { parameters: ["u32"], result: "void" },
    mock_state: { parameters: ["i32", "u32"], result: "void" },
    mock_no_state: { parameters: ["i32"], result: "void" },
  });
  return { path, mock: symbols };
}

const reasonsOf = (device: Device) => device.telemetry!().throttle;

ccTest("telemetry() reads the management library", () => {
  const { path, mock } = mockNvml();
  const { backend, info } = opened(["libnothing.so", path]);
  strictEqual(info.driver, "580.1.2");
  using device = backend.open(info);
  mock.mock_throttle(1n);
  const quiet = {
    sm_mhz: 1980,
    mem_mhz: 3201,
    power_w: 123.456,
    temp_c: 41,
    throttle: "",
  };
  deepStrictEqual(device.telemetry!(), quiet);
  mock.mock_throttle(0x1ffn);
  strictEqual(
    reasonsOf(device),
    "applications_clocks_setting+sw_power_cap+hw_slowdown+sync_boost+sw_thermal_slowdown+hw_thermal_slowdown+hw_power_brake_slowdown+display_clock_setting",
  );
  mock.mock_no_power(1);
  strictEqual("power_w" in device.telemetry!(), false);
  mock.mock_no_power(0);
});

ccTest(
  "telemetry() tells reasons that came and went since the last look",
  () => {
    const { path, mock } = mockNvml();
    const { backend, info } = opened([path]);
    mock.mock_throttle(0n);
    mock.mock_lowered(0, 5n);
    using device = backend.open(info);
    strictEqual(reasonsOf(device), "");
    const hours = 3_600_000_000_000n;
    mock.mock_lowered(0, hours);
    mock.mock_lowered(2, hours);
    strictEqual(reasonsOf(device), "sw_power_cap+hw_power_brake_slowdown");
    strictEqual(reasonsOf(device), "");
    // Less than a share of the time between.
    mock.mock_lowered(1, 1n);
    strictEqual(reasonsOf(device), "");
  },
);

ccTest(
  "machine() lists what differs from a GPU of its own in its default state",
  () => {
    const { path, mock } = mockNvml();
    const { backend, info } = opened([path]);
    deepStrictEqual(backend.machine!(info), []);
    mock.mock_process(Deno.pid);
    deepStrictEqual(backend.machine!(info), []);
    for (const pid of [77, 78]) mock.mock_process(pid);
    const odd = [1, 0, 1, 500, 0];
    for (const [which, value] of odd.entries()) mock.mock_state(which, value);
    mock.mock_no_power(1);
    deepStrictEqual(backend.machine!(info), [
      "processes=2",
      "mig",
      "ecc=off",
      "power_cap=500W",
      "persistence=off",
      "no_instant_power",
    ]);
    mock.mock_no_state(1);
    deepStrictEqual(backend.machine!(info), [
      "processes=2",
      "no_instant_power",
    ]);
  },
);

ccTest("an old management library lacks figures, and no row", () => {
  const path = build("libold-nvidia-ml.so", ["cuda/nvml.c"], ["-DOLD"]);
  const { backend, info } = opened([path]);
  deepStrictEqual(backend.machine!(info), ["no_instant_power"]);
  using device = backend.open(info);
  deepStrictEqual(Object.keys(device.telemetry!()), [
    ...["sm_mhz", "mem_mhz", "temp_c", "throttle"],
  ]);
});

ccTest("machine() says that the management library is missing", () => {
  const { backend, info } = opened(["libnothing.so"]);
  deepStrictEqual(backend.machine!(info), ["no_nvml"]);
  const gone = cuda({ driver: ["libnothing.so.1"] });
  deepStrictEqual(gone.machine!(info), []);
});
