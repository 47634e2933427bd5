import { assert, assertEquals } from "@std/assert";

const TYPES = Deno.readTextFileSync(new URL("std.d.ts", import.meta.url));

for (const [, name, body] of TYPES.matchAll(/module "([^"]+)" \{(.*?)^\}/gms)) {
  Deno.test(`std.d.ts declares what ${name} exports`, async () => {
    const real: Record<string, unknown> = await import(name!);
    const declared = [...body!.matchAll(/export (?:function|class) (\w+)/g)]
      .map(([, value]) => value!);
    assert(declared.length > 0);
    assertEquals(declared.filter((value) => !(value in real)), []);
  });
}
