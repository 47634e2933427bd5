import { match, strictEqual } from "node:assert/strict";
import type { DeviceInfo } from "../../../../bench/device/device.ts";
import type { Values } from "../../../../bench/model/grid.ts";
import { matmul } from "../../op.ts";
import { splitkAtomic, splitkPartials } from "./splitk.ts";

const gfx942 = { arch: "gfx942", sharedBytes: 65536, units: 304 } as DeviceInfo;
const POINT = { m: 21, n: 128, k: 768, layout: "nt", type: "bf16" };

Deno.test("splitkAtomic refuses bf16 where memory cannot add it, and a relu", () => {
  const why = (values: Values, arch = "gfx90a") =>
    splitkAtomic.unsupported(matmul.point({ ...POINT, ...values }), {
      ...gfx942,
      arch,
    });
  match(why({}) ?? "", /^gfx90a adds pairs of f16 in memory/);
  strictEqual(why({ type: "f16" }), undefined);
  strictEqual(why({}, "gfx942"), undefined);
  match(why({ epilogue: "relu" }, "gfx942") ?? "", /no moment .* for a relu$/);
});

Deno.test("splitkPartials has a legal config at each decode shape of K = 7168", () => {
  for (const n of [256, 512, 1024, 2112]) {
    for (const m of [1, 8, 128]) {
      const point = matmul.point({ m, n, k: 7168, layout: "nt" });
      strictEqual(splitkPartials.unsupported(point, gfx942), undefined);
      const [first] = splitkPartials.candidates(point, gfx942);
      strictEqual(first!.illegal, undefined, `${m} ${n}`);
    }
  }
});
