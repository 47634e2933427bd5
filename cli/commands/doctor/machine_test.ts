import { match, strictEqual } from "node:assert/strict";
import { type Machine, notForThis, thisMachine } from "./machine.ts";

/** A machine on Linux with PCI devices of these vendors and classes. */
function linux(
  devices: readonly (readonly [vendor: string, kind: string])[] | undefined,
): Machine {
  return {
    os: "linux",
    devices: () => devices?.map(([vendor, kind]) => ({ vendor, kind })),
  };
}

const BRIDGE = ["0x1022", "0x060000"] as const;

Deno.test("notForThis() is of a machine without such a GPU", () => {
  const bare = linux([BRIDGE, ["0x1002", "0x040300"]]);
  match(notForThis("cuda", bare)!, /^this machine has no GPU of NVIDIA$/);
  match(notForThis("hip", bare)!, /^this machine has no GPU of AMD$/);
  strictEqual(notForThis("cpu", bare), undefined);
});

Deno.test("notForThis() is not of a GPU that is there, with a driver or without", () => {
  const h200 = linux([BRIDGE, ["0x10de", "0x030200"]]);
  strictEqual(notForThis("cuda", h200), undefined);
  match(notForThis("hip", h200)!, /no GPU of AMD/);
  strictEqual(notForThis("hip", linux([["0x1002", "0x120000"]])), undefined);
});

Deno.test("notForThis() says nothing where nothing can be told", () => {
  strictEqual(notForThis("cuda", linux(undefined)), undefined);
});

Deno.test("thisMachine tells what is on its bus, if anything", () => {
  for (const { vendor, kind } of thisMachine.devices() ?? []) {
    match(vendor, /^0x[0-9a-f]{4}$/);
    match(kind, /^0x[0-9a-f]{6}$/);
  }
});

Deno.test("notForThis() is of another operating system", () => {
  const mac = { ...linux([]), os: "darwin" };
  strictEqual(notForThis("metal", mac), undefined);
  match(notForThis("cuda", mac)!, /not for macOS/);
  match(notForThis("metal", linux([]))!, /Metal is for macOS.*linux/);
});
