import { deepStrictEqual } from "node:assert/strict";
import type { DeviceInfo } from "../bench/device.ts";
import type { Case } from "../bench/suite.ts";
import { cpu } from "../backends/cpu.ts";
import faults from "./testdata/fault_suite.ts";
import { distinctBuilds } from "./worker.ts";

const info: DeviceInfo = cpu.find().devices[0]!;

/** What a kernel of a user may throw at each thing that it is asked. */
const refuse = (): never => {
  throw new TypeError("undefined is not a function");
};

Deno.test("distinctBuilds() leaves out cases whose kernels throw, and only those", () => {
  const good = [...faults.cases("quick")].find((c) =>
    c.backend === "cpu" && c.kernel === "right"
  )!;
  const broken: readonly Case[] = [
    { ...good, unsupported: refuse },
    { ...good, candidates: refuse },
    { ...good, builds: refuse },
  ];
  const sources = (cases: readonly Case[]) =>
    distinctBuilds(cases, info).map(({ source }) => source.href);
  deepStrictEqual(sources(broken), []);
  deepStrictEqual(sources([...broken, good]), sources([good]));
  deepStrictEqual(sources([good]).length, 1);
});
