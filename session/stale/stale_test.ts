import { assert, assertEquals } from "@std/assert";
import { fileURLToPath } from "node:url";
import { builtInSuites } from "../../suites/mod.ts";
import { readRows } from "../read_rows.ts";
import { besideAuto } from "../cases.ts";
import { stalenessOf } from "./stale.ts";

const RECORDED = fileURLToPath(
  new URL("../../results/nvidia-h200/epilogue-bf16.csv", import.meta.url),
);

Deno.test("stalenessOf() calls a row gone whose config its kernel no longer takes", async () => {
  const rows = await readRows([RECORDED]);
  const one = rows.find(({ row }) => row.kernel === "cluster-k")!;
  assert(one.row.config.includes("LOAD="), one.row.config);
  const config = one.row.config.replace(/LOAD=\w+/, "LOAD=never");
  const changed = { ...one, row: { ...one.row, config } };
  const [stood] = await stalenessOf(
    [changed],
    await builtInSuites(["epilogue-bf16"]),
  );
  assertEquals(stood!.standing, "gone");
});

Deno.test("stalenessOf() finds the point of a row with another value of an axis that the suite sweeps", async () => {
  const rows = await readRows([
    fileURLToPath(
      new URL(
        "../../results/nvidia-h200/decode-bf16-models.csv",
        import.meta.url,
      ),
    ),
  ]);
  const other = rows.filter(({ row }) =>
    row.layout === "nn" && row.kernel === "columns-k"
  );
  assert(other.length > 0);
  const suites = await builtInSuites(["decode-bf16-models"]);
  const stood = await stalenessOf(other, suites);
  assertEquals(stood.filter(({ standing }) => standing === "gone"), []);
  // Nor is another size lost, beside values that are no text to the suite.
  const [one] = await readRows([
    fileURLToPath(
      new URL("../../results/nvidia-h200/mlx-qmm.csv", import.meta.url),
    ),
  ]).then((all) => all.filter(({ row }) => row.kernel === "qmm-wgmma"));
  const sized = { ...one!, row: { ...one!.row, m: "24" } };
  const [found] = await stalenessOf([sized], await builtInSuites(["mlx-qmm"]));
  assertEquals(found!.standing, "current");
});

Deno.test("stalenessOf() goes by the sources of the kernel that auto chose", async () => {
  const rows = await readRows([RECORDED]);
  const one = rows.find(({ row }) => row.kernel === "cluster-k")!;
  const auto = (kernel: string, code = one.row.code_hash) => ({
    ...one,
    row: {
      ...one.row,
      kernel: "auto",
      config: `kernel=${kernel} ${one.row.config}`,
      code_hash: code,
    },
  });
  const suites = await besideAuto(
    await builtInSuites(["epilogue-bf16"]),
    ["auto"],
  );
  const stood = await stalenessOf(
    [one, auto("cluster-k"), auto("cluster-k", "0"), auto("never")],
    suites,
  );
  const [own, ...others] = stood.map(({ standing }) => standing);
  assertEquals(others, [own, "changed", "gone"]);
});
