import { ok, strictEqual, throws } from "node:assert/strict";
import { join } from "node:path";
import { fake } from "../../backends/fake/fake.ts";
import { BinaryCache } from "./binary_cache.ts";
import type { Backend } from "./device.ts";
import { CaseError, UserError } from "../model/errors.ts";
import { Instruments } from "./instruments.ts";

Deno.test("Instruments.flush() says in one line that a reading flush needs a compiler", async () => {
  const dir = await Deno.makeTempDir();
  try {
    const usual = fake({ kernels: {} });
    const backend: Backend = {
      ...usual,
      compiler() {
        throw new CaseError("compile", "no compiler is here");
      },
    };
    using device = backend.open(backend.find().devices[0]!);
    const cache = new BinaryCache(join(dir, "cache"));
    using instruments = await Instruments.open(device, { backend, cache });
    strictEqual(instruments.missing, "no compiler is here");
    instruments.flush("zero")();
    throws(() => instruments.flush("read"), (error) => {
      ok(error instanceof UserError, `${error}`);
      strictEqual(
        error.message,
        "--flush read needs a compiler for fake_1: no compiler is here; use --flush zero",
      );
      return true;
    });
  } finally {
    await Deno.remove(dir, { recursive: true });
  }
});
