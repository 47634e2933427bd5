import type { DeviceInfo } from "../device/device.ts";
import { candidatesOf } from "./kernel.ts";
import { deepStrictEqual, throws } from "node:assert/strict";

const info: DeviceInfo = {
  index: 0,
  name: "GPU",
  arch: "sm_1",
  units: 2,
  cacheBytes: 0,
  flushBytes: 0,
  sharedBytes: 8,
  driver: "",
};
const configs = () => [{ T: 4 }, { T: 16 }, { T: 8 }, { T: 2 }];
const shared = (
  _: unknown,
  { T }: { T: number },
  { sharedBytes }: DeviceInfo,
) => T <= sharedBytes ? undefined : `${T} bytes of ${sharedBytes}`;
const from = { point: 0, info };

Deno.test("candidatesOf() refuses a rule that gives no reason", () => {
  for (const given of [true, false, null]) {
    // What nobody but a program without types can write.
    const wrong = (() => given) as unknown as () => undefined;
    throws(() => [...candidatesOf({ configs, rules: [() => wrong()] }, from)], {
      name: "UserError",
      message:
        `Its rule 1 gave ${given}, which is no reason: give a text that says why not, or undefined where it can run`,
    });
  }
});

Deno.test("candidatesOf() lists no more configs than anybody can wait for", () => {
  let made = 0;
  const endless = function* () {
    while (true) yield { T: made++ };
  };
  // Rules come after listing: those that they leave over do not matter.
  const rules = [() => "none of them"];
  throws(() => [...candidatesOf({ configs: endless, rules }, from)], {
    name: "UserError",
    message:
      "It has more than 200000 configs, legal and illegal: give its tunables shorter lists",
  });
  deepStrictEqual(made, 200_001);
});

Deno.test("candidatesOf() keeps the kernel's order where there is no model", () => {
  deepStrictEqual([...candidatesOf({ configs, rules: { shared } }, from)], [
    { config: { T: 4 } },
    { config: { T: 16 }, illegal: "16 bytes of 8", rule: "shared" },
    { config: { T: 8 } },
    { config: { T: 2 } },
  ]);
});

Deno.test("candidatesOf() puts the model's best first and what is illegal last", () => {
  const predict = (_: unknown, { T }: { T: number }) => T === 4 ? NaN : 100 / T;
  deepStrictEqual(
    [...candidatesOf({ configs, rules: { shared }, predict }, from)],
    [
      { config: { T: 8 }, predicted: 12.5 },
      { config: { T: 2 }, predicted: 50 },
      { config: { T: 4 }, predicted: Infinity },
      { config: { T: 16 }, illegal: "16 bytes of 8", rule: "shared" },
    ],
  );
});

Deno.test("candidatesOf() names rules of a list by function or place", () => {
  const rules = [
    shared,
    // Not named by what it is assigned to.
    ...[(_: unknown, { T }: { T: number }) => T === 2 ? "two" : undefined],
  ];
  deepStrictEqual(
    [...candidatesOf({ configs, rules }, from)].map(({ rule }) => rule),
    [undefined, "shared", undefined, "rule 2"],
  );
});

Deno.test("candidatesOf() is one config without tunables", () => {
  deepStrictEqual([...candidatesOf({}, from)], [{ config: {} }]);
});
