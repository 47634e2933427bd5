import { deepStrictEqual, match, strictEqual } from "node:assert/strict";
import { backends } from "./mod.ts";

Deno.test("backends are in the order in which they are preferred", () => {
  deepStrictEqual(backends.map(({ name }) => name), [
    "cuda",
    "hip",
    "metal",
    "cpu",
  ]);
});

Deno.test({
  name: "find() of no backend throws without the permission to open libraries",
  permissions: { ffi: false, read: true, env: true, run: true, sys: true },
  fn() {
    for (const backend of backends) {
      const { devices, reason } = backend.find();
      strictEqual(devices.length === 0, reason !== "", backend.name);
    }
    match(backends[0]!.find().reason, /libcuda\.so\.1 \(Requires ffi access/);
  },
});
