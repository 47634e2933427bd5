import { deepStrictEqual, strictEqual } from "node:assert/strict";
import { pageDataOf } from "../../report.ts";
import { inputOf, row } from "../../testdata/rows.ts";
import { Comparison } from "../compare.ts";
import { bookOf } from "../entry.ts";
import { bestOf, groupsOf } from "./tiles_view.ts";

Deno.test("groupsOf() never has a mean over two devices or two baselines", () => {
  const cpu = { device: "CPU" };
  const { entries } = bookOf(pageDataOf(inputOf([
    row(),
    row({ kernel: "mine", median_us: "5" }),
    row({ suite: "second", m: "8" }),
    row({ suite: "second", m: "8", kernel: "mine", median_us: "20" }),
    row({ kernel: "naive", ...cpu }),
    row({ kernel: "mine", median_us: "0.1", sol_us: "0.01", ...cpu }),
    row({ suite: "alone", kernel: "mine" }),
  ])));
  const comparison = new Comparison(entries, () => ["cublas", "naive"]);
  const groups = groupsOf(entries, comparison);
  deepStrictEqual(
    groups.map((own) => [own[0]!.device, comparison.baseline(own[0]!)]),
    [["Test GPU", "cublas"], ["CPU", "naive"]],
  );
  const [gpu, host] = groups.map((own) => bestOf(own, comparison)!);
  deepStrictEqual([gpu!.mean, gpu!.over, host!.over], [1, 2, 1]);
  strictEqual(Math.round(host!.mean), 100);
});
