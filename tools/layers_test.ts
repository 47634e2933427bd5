import { assertEquals } from "@std/assert";
import plugin from "./layers.ts";

const WRONG: readonly (readonly [string, string, readonly string[]])[] = [
  ["bench/a.ts", 'import { x } from "../backends/cpu/cpu.ts";', ["imports"]],
  ["bench/a.ts", 'import type { X } from "../kernels/x.ts";', ["imports"]],
  ["bench/a.ts", 'import { kernels } from "mnkbench";', ["imports"]],
  ["bench/std/a.ts", 'export * from "../../cli/main.ts";', ["imports"]],
  ["bench/a.ts", 'export { x } from "../report/x.ts";', ["imports"]],
  ["bench/a.ts", 'await import("../suites/mod.ts");', ["imports"]],
  ["bench/a.ts", 'import x from "../deno.json" with {};', ["imports"]],
  ["kernels/matmul/a.ts", 'import "../../backends/cpu.ts";', ["imports"]],
  ["report/a.ts", 'import "../suites/mod.ts";', ["imports"]],
  ["suites/a.ts", 'import "../backends/mod.ts";', ["imports"]],
  ["tools/a.ts", 'import "../cli/main.ts";', ["imports"]],
  ["mod.ts", 'import "./cli/main.ts";', ["imports"]],
  ["bench/a.ts", "Deno.dlopen(p, {});", ["outside"]],
  ["cli/a.ts", "globalThis.Deno.dlopen(p, {});", ["outside"]],
  ["kernels/a.ts", "const { dlopen } = Deno;", ["outside"]],
  ["kernels/a.ts", "new Deno.UnsafePointerView(p);", ["outside"]],
  ["bench/a.ts", "let p: Deno.PointerValue;", ["outside"]],
  ["bench/a.ts", "console.log(1);", ["outside"]],
  ["backends/a.ts", "Deno.exit(1);", ["outside"]],
  ["report/a.ts", "f(Deno.args);", ["outside"]],
];

const RIGHT: readonly (readonly [string, string])[] = [
  ["bench/a.ts", 'import { x } from "./x.ts"; import { y } from "./std/y.ts";'],
  ["bench/a.ts", 'import { join } from "node:path"; import "@std/csv";'],
  ["backends/a.ts", 'import "../bench/device/device.ts"; Deno.dlopen(p, {});'],
  ["backends/driver/a.ts", "let p: Deno.PointerValue;"],
  ["suites/a.ts", 'import "../kernels/matmul/mod.ts";'],
  ["cli/a.ts", 'import "../backends/mod.ts"; console.log(Deno.args);'],
  ["cli/a.ts", 'import config from "../deno.json" with {};'],
  ["tools/a.ts", "Deno.exit(1);"],
  ["mod.ts", 'export * from "./bench/kernel.ts";'],
  ["bench/a_test.ts", 'import "../backends/fake/fake.ts"; Deno.dlopen(p, {});'],
  ["bench/testdata/a.ts", "Deno.exit(Number(Deno.args[0]));"],
  ["docs/a.ts", 'import "../cli/main.ts"; console.log(1);'],
];

function found(file: string, source: string): string[] {
  return Deno.lint.runPlugin(plugin, file, source)
    .map(({ id }) => id.replace("mnkbench/", ""));
}

for (const [file, source, rules] of WRONG) {
  Deno.test(`layers refuses ${source} in ${file}`, () => {
    assertEquals(found(file, source), rules);
  });
}

for (const [file, source] of RIGHT) {
  Deno.test(`layers allows ${source} in ${file}`, () => {
    assertEquals(found(file, source), []);
  });
}
