import { assertEquals, assertMatch, assertThrows } from "@std/assert";
import { matmul, type MatmulPoint } from "../../kernels/matmul/mod.ts";
import { UserError } from "./errors.ts";
import { defineKernel, defineLaunch } from "./kernel.ts";
import type { KernelSpec, LaunchSpec } from "./kernel_spec.ts";
import type { Values } from "./grid.ts";
import { defineSuite } from "./suite.ts";
import type { SuiteSpec } from "./spec_schema.ts";

const KERNEL: KernelSpec<MatmulPoint, Values> = {
  name: "mine",
  backend: "cpu",
  idea: "none",
  prepare: () => ({ steps: [] }),
};
const LAUNCH: LaunchSpec<MatmulPoint, Record<never, never>> = {
  name: "mine",
  backend: "cuda",
  entry: "mine",
  source: new URL("file:///mine.cu"),
};

/** `spec` as somebody may have typed it, whose editor checks no types. */
function without<T extends object>(spec: T, field: keyof T, typo?: string): T {
  const { [field]: value, ...rest } = spec;
  return { ...rest, ...(typo && { [typo]: value }) } as T;
}

/** Demands that `define` refuses in one line, as `why` says. */
function refused(define: () => unknown, why: RegExp): void {
  const { message } = assertThrows(define, UserError);
  assertMatch(message, why);
  assertEquals(message.split("\n").length, 1);
}

Deno.test("demandKernel() names each field that is missing", () => {
  const fields = ["name", "backend", "idea", "prepare"] as const;
  for (const field of fields) {
    const who = field === "name" ? "" : " mine";
    refused(
      () => defineKernel(matmul, without(KERNEL, field)),
      new RegExp(
        `^Cannot define the kernel${who}: it has no ${field}, such as \``,
      ),
    );
  }
});

Deno.test("demandLaunch() names each field that is missing, misspelt or off", () => {
  for (const field of ["name", "backend", "entry", "source"] as const) {
    refused(
      () => defineLaunch(matmul, without(LAUNCH, field, "misspelt")),
      new RegExp(`: it has no ${field}, such as \``),
    );
  }
  const path = { ...LAUNCH, source: "./mine.cu" as unknown as URL };
  refused(() => defineLaunch(matmul, path), /mine: it has a wrong source, /);
  refused(
    () => defineLaunch(matmul, { ...LAUNCH, tunables: { BM: [] } }),
    /its tunable BM has no values/,
  );
  refused(
    () => defineLaunch(undefined as unknown as typeof matmul, LAUNCH),
    /its first argument is no operation/,
  );
});

Deno.test("demandSuite() refuses kernels that follow themselves, and what has no title or name", () => {
  const kernel = (name: string, follows: string) =>
    defineKernel(matmul, { ...KERNEL, name, follows });
  const suite = (change: Partial<SuiteSpec<MatmulPoint>>) =>
    defineSuite<MatmulPoint>({
      name: "s",
      title: "S",
      op: matmul,
      axes: { m: [16], n: [16], k: [64] },
      kernels: [],
      baselines: [],
      ...change,
    });
  refused(
    () => suite({ kernels: [kernel("a", "b"), kernel("b", "a")] }),
    /its kernel a follows itself: /,
  );
  refused(
    () => suite({ kernels: [without(kernel("a", "b"), "name")] }),
    /entry 0 of its kernels has no name/,
  );
  refused(() => suite({ title: "" }), /it has no title/);
  // A leader that is not there is no mistake: --kernel may have left it out.
  assertEquals(suite({ kernels: [kernel("a", "b")] }).kernels.length, 1);
});
