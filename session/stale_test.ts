import { assert, assertEquals } from "@std/assert";
import { fileURLToPath } from "node:url";
import { builtInSuites } from "../suites/mod.ts";
import { readRows } from "./read_rows.ts";
import { standings } from "./stale.ts";

Deno.test("standings() calls a row gone whose config its kernel no longer takes", async () => {
  const path = fileURLToPath(
    new URL("../results/nvidia-h200/epilogue-bf16.csv", import.meta.url),
  );
  const rows = await readRows([path]);
  const one = rows.find(({ row }) => row.kernel === "cluster-k")!;
  assert(one.row.config.includes("LOAD="), one.row.config);
  const config = one.row.config.replace(/LOAD=\w+/, "LOAD=never");
  const changed = { ...one, row: { ...one.row, config } };
  const [stood] = await standings(
    [changed],
    await builtInSuites(["epilogue-bf16"]),
  );
  assertEquals(stood!.standing, "gone");
});
