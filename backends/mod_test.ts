import { assertEquals, assertMatch, assertStrictEquals } from "@std/assert";
import { allBackends, backends as loaders } from "./mod.ts";
import type { Backend } from "../bench/device/device.ts";
import { CaseError } from "../bench/model/errors.ts";
import { CASES, kernelsOf } from "./testdata/conformance.ts";

const backends = await allBackends();

Deno.test("backends have their own names, in the order in which they are preferred", () => {
  const names = ["cuda", "hip", "metal", "cpu"];
  assertEquals(Object.keys(loaders), names);
  assertEquals(backends.map(({ name }) => name), names);
});

Deno.test({
  name: "find() of no backend throws without the permission to open libraries",
  permissions: { ffi: false, read: true, env: true, run: true, sys: true },
  fn() {
    for (const backend of backends) {
      const { devices, reason } = backend.find();
      assertStrictEquals(devices.length === 0, reason !== "", backend.name);
    }
    assertMatch(
      backends[0]!.find().reason,
      /libcuda\.so\.1 \(Requires ffi access/,
    );
  },
});

/** Why the cases cannot run on `backend` here; empty where they can. */
function obstacle(backend: Backend): string {
  const { devices: [info], reason } = backend.find();
  if (!info) return reason;
  try {
    backend.compiler(info.arch);
    return "";
  } catch (error) {
    if (error instanceof CaseError) return error.message;
    throw error;
  }
}

async function compile(backend: Backend, folder: string): Promise<void> {
  const [info] = backend.find().devices;
  const compiler = backend.compiler(info!.arch);
  for (
    const [name, source] of [["instruments", backend.instruments], [
      "kernels",
      kernelsOf(backend.name),
    ]] as const
  ) {
    await compiler.compile({ source, defines: {} }, `${folder}/${name}`);
  }
}

for (const backend of backends) {
  const reason = obstacle(backend);
  Deno.test({
    name: `${backend.name} conforms${reason && ` (ignored: ${reason})`}`,
    ignore: reason !== "",
    async fn(t) {
      const folder = Deno.makeTempDirSync();
      try {
        await t.step(
          "compile() builds the instruments and kernels",
          () => compile(backend, folder),
        );
        using device = backend.open(backend.find().devices[0]!);
        using instruments = device.load(`${folder}/instruments`);
        using kernels = device.load(`${folder}/kernels`);
        for (const { name, run } of CASES) {
          await t.step(name, () => run({ device, instruments, kernels }));
        }
      } finally {
        Deno.removeSync(folder, { recursive: true });
      }
    },
  });
}
