import { deepStrictEqual, rejects, strictEqual } from "node:assert/strict";
import { suites, usualSuites } from "../suites/mod.ts";
import { loadSuites } from "./select.ts";
import { select } from "./selection.ts";

const onCpu = {
  suites: [],
  kernels: ["naive"],
  overrides: {},
  where: {},
  quick: false,
  backend: "cpu",
  device: 0,
};
const names = (list: readonly { readonly name: string }[]) =>
  list.map(({ name }) => name);

Deno.test("select() takes the usual suites, or all by that name", async () => {
  const bare = await select(onCpu);
  deepStrictEqual(bare.selection.suites, names(usualSuites));
  strictEqual(bare.preset, true);
  const every = await select({ ...onCpu, suites: ["all"] });
  deepStrictEqual(every.selection.suites, names(suites));
  // Whoever names suites gets all of their points.
  strictEqual(every.preset, false);
  const one = await select({ ...onCpu, suites: ["router-bf16"] });
  deepStrictEqual(one.selection.suites, ["router-bf16"]);
});

Deno.test("select() looks in every suite for a kernel that the usual ones lack", async () => {
  // It is found, and is for another device.
  await rejects(
    select({ ...onCpu, kernels: ["dot"] }),
    /^UserError: No usable device: cpu: no selected kernel runs on it; they are for cuda$/,
  );
  await rejects(select({ ...onCpu, kernels: ["dots"] }), /did you mean dot\?/);
});

Deno.test("select() takes layouts where a suite has them as an axis", async () => {
  const { cases } = await select({
    ...onCpu,
    suites: ["router-bf16"],
    overrides: { layout: ["nn", "nt"], m: [1] },
  });
  deepStrictEqual(cases.map(({ problem: { key } }) => key.layout), [
    "nn",
    "nt",
  ]);
});

Deno.test("loadSuites() gives every built-in suite where none is named", async () => {
  deepStrictEqual(names(await loadSuites([])), names(suites));
  deepStrictEqual(names(await loadSuites(["all"])), names(suites));
  await rejects(loadSuites(["all", "router-bf16"]), /Two of the suites/);
});
