/**
 * A kernel's plan, with the memory that it took.
 *
 * @module
 */

import { POISON } from "./assert_close.ts";
import type { Build, Device, Module } from "../device/device.ts";
import type { Values } from "../model/grid.ts";
import type { Plan } from "../model/kernel_spec.ts";
import type { Operands } from "../model/problem.ts";
import { blame, CaseError } from "../model/errors.ts";
import type { Runnable } from "../model/suite.ts";

/** A plan with everything that it needs alive until it is disposed. */
export interface PreparedPlan extends Disposable {
  readonly plan: Plan;
  /** Queues every step. */
  run(): void;
}

/** The device and functions with which a plan is made. */
export interface Place {
  readonly device: Device;
  /** Bytes that a plan may allocate. @default {all that there are} */
  readonly workspaceBytes: number | undefined;
  /** The loaded binary of `build`; nothing where the kernel did not name it. */
  load(build: Build): Module | undefined;
}

/**
 * Has `runnable` allocate and pack, and queues its setup.
 *
 * @throws {CaseError} As the kernel's `prepare` and the device do.
 */
export function preparePlan(
  runnable: Runnable,
  { config, operands }: { config: Values; operands: Operands },
  { device, workspaceBytes = Infinity, load }: Place,
): PreparedPlan {
  const scope = new DisposableStack();
  let taken = 0;
  try {
    const context = {
      config,
      device,
      operands,
      program: (build: Build, entry: string) => {
        const module = load(build);
        if (module) return module.program(entry);
        throw new Error(
          `Cannot load ${build.source} with ${
            JSON.stringify(build.defines)
          }: the kernel's builds() does not name it`,
        );
      },
      alloc: (bytes: number) => {
        taken += bytes;
        if (taken > workspaceBytes) {
          throw new CaseError(
            "unsupported",
            `It takes ${taken} bytes of workspace, and ${workspaceBytes} are allowed: raise --workspace`,
          );
        }
        const memory = scope.use(device.alloc(bytes));
        memory.fill(POISON);
        return memory;
      },
    };
    const plan: Plan = blame(
      "prepare the kernel",
      () => runnable.prepare(context),
    );
    for (const step of plan.setup ?? []) {
      blame(`run ${step.label}`, () => step.enqueue());
    }
    return {
      plan,
      run() {
        for (const step of plan.steps) {
          blame(`run ${step.label}`, () => step.enqueue());
        }
      },
      [Symbol.dispose]: () => scope.dispose(),
    };
  } catch (error) {
    scope.dispose();
    throw error;
  }
}

/** A translation unit as text: equal for equal units. */
export function buildText({ source, defines }: Build): string {
  return JSON.stringify([source.href, Object.entries(defines).toSorted()]);
}
