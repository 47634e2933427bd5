import { throws } from "node:assert/strict";
import type { Device } from "../device/device.ts";
import { CaseError } from "../model/errors.ts";
import { OperandSet } from "./operands.ts";
import type { Problem } from "../model/suite.ts";

Deno.test("OperandSet() makes no inputs for which the device has no room", () => {
  const full = {
    alloc(bytes: number) {
      throw new CaseError("oom", `Cannot allocate ${bytes} bytes`);
    },
  } as unknown as Device;
  const side = 1_000_000_000;
  const problem = {
    operands: [{
      name: "B",
      role: "in",
      type: "f32",
      rows: side,
      cols: side,
      ld: side,
    }],
    inputs() {
      throw new Error("Minutes would have passed");
    },
  } as unknown as Problem;
  throws(
    () => new OperandSet(problem, full, { seed: 0, fill: "normal" }),
    { failure: "oom", message: /^Cannot allocate 40{14}8\d{3} bytes$/ },
  );
});
