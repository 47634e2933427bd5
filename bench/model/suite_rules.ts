/**
 * What a suite must be, said where it is defined: its author may be anybody.
 *
 * @module
 */

import { UserError } from "./errors.ts";
import type { Kernel } from "./kernel_spec.ts";
import { show } from "./show_value.ts";
import type { SuiteSpec } from "./suite_spec.ts";

/** A suite's name is a file's name too, which gets endings, and has 255 bytes at most. */
const SUITE_NAME = /^\w[\w.-]{0,99}$/;
/** Kernels' names are words of command lines and columns of tables. */
const KERNEL_NAME = /^\w[\w.+-]{0,99}$/;

const LETTERS = "letters, digits, `_`, `-` and `.`";

/** @throws {UserError} Where `spec` cannot be swept, with what is wrong. */
export function demandSuite<P>(spec: SuiteSpec<P>): void {
  const named = typeof spec.name === "string" && SUITE_NAME.test(spec.name);
  const called = named ? spec.name : show(`${spec.name}`);
  const refuse = (why: string): never => {
    throw new UserError(`Cannot define the suite ${called}: ${why}`);
  };
  if (!named) {
    refuse(
      `its name must be ${LETTERS}, 100 at most, as it becomes a file name`,
    );
  }
  if (typeof spec.title !== "string" || spec.title === "") {
    refuse('it has no title, such as `title: "My product"`');
  }
  if (typeof spec.op?.point !== "function") refuse("it has no op");
  if (typeof spec.axes !== "object" || spec.axes === null) {
    refuse("it has no axes, such as `axes: { m: [16], k: [8192] }`");
  }
  for (const [axis, list] of Object.entries(spec.axes)) {
    if (!Array.isArray(list) || list.length === 0) {
      refuse(`its axis ${axis} has no values`);
    }
  }
  if (!Array.isArray(spec.kernels) || !Array.isArray(spec.baselines)) {
    refuse("it needs lists of kernels and of baselines");
  }
  const seen = new Set<string>();
  for (const [i, kernel] of spec.kernels.entries()) {
    if (typeof kernel?.candidates !== "function") {
      refuse(`entry ${i} of its kernels is not a kernel`);
    }
    if (!kernel.name || !kernel.backend) {
      refuse(
        `entry ${i} of its kernels has no ${kernel.name ? "backend" : "name"}`,
      );
    }
    if (typeof kernel.name !== "string" || !KERNEL_NAME.test(kernel.name)) {
      refuse(
        `the name ${
          show(`${kernel.name}`)
        } of entry ${i} of its kernels must be ${LETTERS} and \`+\`, 100 at most`,
      );
    }
    const name = `${kernel.name} on ${kernel.backend}`;
    if (seen.has(name)) refuse(`it has two kernels named ${name}`);
    seen.add(name);
  }
  for (const kernel of spec.kernels) {
    const seen = new Set([kernel]);
    let leader = leaderOf(kernel, spec.kernels);
    while (leader !== undefined && !seen.has(leader)) {
      seen.add(leader);
      leader = leaderOf(leader, spec.kernels);
    }
    if (leader === kernel) {
      refuse(
        `its kernel ${kernel.name} follows itself: leave out \`follows\`, or name the kernel whose config it takes`,
      );
    }
  }
}

/** The one of `kernels` whose winning config `kernel` takes; none where it follows none. */
export function leaderOf<P>(
  kernel: Kernel<P>,
  kernels: readonly Kernel<P>[],
): Kernel<P> | undefined {
  if (kernel.follows === undefined) return undefined;
  return kernels.find(({ name, backend }) =>
    name === kernel.follows && backend === kernel.backend
  );
}
