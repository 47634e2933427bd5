import { assert, assertEquals, assertMatch, assertRejects } from "@std/assert";
import { WriteError } from "../../bench/files/disk.ts";
import { UserError } from "../../bench/model/errors.ts";
import type { DeviceInfo } from "../../bench/device/device.ts";
import { caseText, keyOf } from "../../bench/row/row.ts";
import { cpu } from "../../backends/cpu/cpu.ts";
import { casesAnywhere } from "../select.ts";
import { Devices } from "./devices.ts";

const cases = await casesAnywhere({
  suites: ["matmul-fp32"],
  kernels: ["naive"],
  where: {},
  quick: false,
  overrides: {},
  backend: "cpu",
  device: 0,
});
const [host] = cpu.find().devices;
const infos: readonly DeviceInfo[] = [0, 1, 2].map((index) => ({
  ...host!,
  index,
}));

/** Runs two repeats; `fails` throws where a device fails, of which a case was measured before. */
async function share(fails: (index: number, repeat: number) => void) {
  const lines: string[] = [];
  const devices = new Devices(infos, (line) => lines.push(line));
  /** By case, the device of each repeat. */
  const places = new Map<string, number[]>();
  for (const repeat of [0, 1]) {
    const done = new Set<string>();
    const textOf = (c: typeof cases[number]) => caseText(keyOf(c));
    const missing = () => cases.filter((c) => !done.has(textOf(c)));
    await devices.run({
      cases,
      signal: new AbortController().signal,
      missing,
      async measure(own, { index }) {
        await Promise.resolve();
        for (const c of own.filter((c) => missing().includes(c))) {
          done.add(textOf(c));
          places.set(textOf(c), [...places.get(textOf(c)) ?? [], index]);
          fails(index, repeat);
        }
      },
    });
    assertEquals(missing(), []);
  }
  return { places: [...places.values()], lines };
}

Deno.test("Devices measures each case once in a repeat, on the same device each time", async () => {
  const { places, lines } = await share(() => {});
  assertEquals(lines, []);
  assertEquals(new Set(places.flat()), new Set([0, 1, 2]));
  for (const [one, two, ...more] of places) {
    assertEquals([one, more], [two, []]);
  }
});

Deno.test("Devices deals the cases of a device that fails among the others, for good", async () => {
  const { places, lines } = await share((index) => {
    if (index === 1) throw new UserError("it fell off the bus");
  });
  assertEquals(places.filter((own) => own.includes(1)).length, 1);
  assertEquals(
    lines,
    [
      "Device 1 is left out, and its cases go to 2 other devices: it fell off the bus",
    ],
  );
});

Deno.test("Devices ends where all fail, and at once where nothing can be kept", async () => {
  const error = await assertRejects(
    () =>
      share((index) => {
        throw new UserError(`no device ${index}`);
      }),
    UserError,
  );
  assertMatch(error.message, /^no device \d$/);
  let calls = 0;
  await assertRejects(
    () =>
      share(() => {
        calls++;
        throw new WriteError("disk full");
      }),
    WriteError,
    "disk full",
  );
  assert(calls <= infos.length);
});
