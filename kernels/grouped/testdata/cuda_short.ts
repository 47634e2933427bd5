/**
 * Short lists, small devices and shallow pipelines: blocks take several tiles, and rings go
 * round, within a launch that the lane emulator runs in a moment.
 *
 * @module
 */

import type { Build, Device } from "../../../bench/device/device.ts";
import type { Kernel } from "../../../bench/model/kernel_spec.ts";
import { groupedMatmul } from "../op.ts";
import type { GroupedPoint } from "../point.ts";

/** Edges of M, N and K, and problems of all sizes: empty, a row, a group alone, many. */
export const SHORT_LISTS: readonly GroupedPoint[] = [
  { m: "1+7+0+8+65", n: "8+72+64+136+72", k: "64+128+64+320+64" },
  { m: "63+129", n: "192+72", k: 64, layout: "nt-mmajor" },
  { m: 257, n: 64, k: 64 },
  {
    m: Array.from({ length: 12 }, (_, i) => i % 5).join("+"),
    n: 40,
    k: 64,
    layout: "nt-mmajor",
  },
].map((values) => groupedMatmul.point(values));

/** `device` with `units` multiprocessors, as far as kernels are told. */
export function ofUnits(device: Device, units: number): Device {
  return {
    info: { ...device.info, units },
    alloc: (bytes) => device.alloc(bytes),
    load: (binary) => device.load(binary),
    interval: () => device.interval(),
    synchronize: () => device.synchronize(),
    [Symbol.dispose]() {},
  };
}

/** `kernel` with no more than `STAGES` stages, in the memory of as many as it would have. */
export function ofStages(
  kernel: Kernel<GroupedPoint>,
  STAGES: number,
): Kernel<GroupedPoint> {
  const shallow = (build: Build): Build =>
    Number(build.defines.STAGES) > STAGES
      ? { ...build, defines: { ...build.defines, STAGES } }
      : build;
  return {
    ...kernel,
    builds: (point, config) => kernel.builds(point, config).map(shallow),
    prepare: (site) =>
      kernel.prepare({
        ...site,
        program: (build, entry) => site.program(shallow(build), entry),
      }),
  };
}
