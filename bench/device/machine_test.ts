import { assert, assertEquals } from "@std/assert";
import { fake } from "../../backends/fake/fake.ts";
import {
  disturbanceTexts,
  findDisturbances,
  hostDisturbances,
} from "./machine.ts";

Deno.test("hostDisturbances() has other load and a governor that saves power", () => {
  const quiet = { load: 1, cores: 4, governor: "performance" };
  const unknown = { load: undefined, cores: 4, governor: undefined };
  assertEquals([quiet, unknown].map(hostDisturbances), [[], []]);
  assertEquals(
    hostDisturbances({ load: 6, cores: 4, governor: "powersave" }),
    ["load=1.5", "governor=powersave"],
  );
});

Deno.test("disturbanceTexts() says the cause and its effect", () => {
  const host = hostDisturbances({ load: 6, cores: 4, governor: "powersave" });
  assertEquals(disturbanceTexts(["mig", ...host]), [
    "Not the usual state of the GPU (mig): times may vary",
    "Other programs keep the CPU busy (load 1.5 for each core): times may vary",
    "The CPU's clock has the policy powersave, not performance: times may vary",
  ]);
});

Deno.test("findDisturbances() has what the backend finds, and looks at this host", () => {
  const [info] = fake({ kernels: {} }).find().devices;
  const [first, ...host] = findDisturbances({ machine: () => ["mig"] }, info!);
  assertEquals(first, "mig");
  for (const found of host) assert(/^(load|governor)=\S+$/.test(found), found);
});
