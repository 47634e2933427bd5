import {
  deepStrictEqual,
  match,
  strictEqual,
  throws,
} from "node:assert/strict";
import { EXIT } from "../bench/errors.ts";
import { hip, metal } from "./absent.ts";
import { build, ccTest } from "./testdata/mocks.ts";

Deno.test("hip() without its runtime says what was tried", () => {
  const { devices, reason } = hip(["libnothing.so.7", "libnothing.so"]).find();
  deepStrictEqual(devices, []);
  match(reason, /^No HIP runtime: tried libnothing\.so\.7 ?.*libnothing\.so/);
});

ccTest("hip() with its runtime says that there is no such backend yet", () => {
  const { devices, reason } = hip([build("libamdhip64.so.7", ["refuse.c"])])
    .find();
  deepStrictEqual(devices, []);
  strictEqual(
    reason,
    "HIP is here, but this version of mnkbench has no hip backend yet",
  );
});

Deno.test("metal() is looked for on macOS only", () => {
  strictEqual(
    metal("linux").find().reason,
    "Metal is only on macOS, and this is linux",
  );
  match(metal("darwin").find().reason, /^Metal is here, but this version/);
});

Deno.test("absent() fails with its reason where more is asked of it", () => {
  const backend = metal("linux");
  throws(() => backend.compiler("metal3"), {
    failure: "compile",
    message:
      "Cannot compile for Metal: Metal is only on macOS, and this is linux",
  });
  const info = {
    index: 0,
    name: "",
    arch: "",
    units: 0,
    cacheBytes: 0,
    flushBytes: 0,
    sharedBytes: 0,
    driver: "",
  };
  throws(() => backend.open(info), { name: "UserError", code: EXIT.nothing });
  deepStrictEqual(backend.target("x"), {
    arch: "x",
    extension: "metal",
    flags: [],
  });
});
