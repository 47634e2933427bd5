import {
  deepStrictEqual,
  match,
  strictEqual,
  throws,
} from "node:assert/strict";
import { EXIT } from "../bench/errors.ts";
import { metal } from "./absent.ts";

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
