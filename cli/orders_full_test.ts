import { assertEquals } from "@std/assert";
import { campaignApart, randomOrders } from "./testdata/orders.ts";
import { lacking } from "./testdata/program.ts";

/** Orders of the sample. `test:soak` runs 400. */
const COUNT = Number(Deno.env.get("ORDERS") ?? 20);
const SEED = Number(Deno.env.get("ORDERS_SEED") ?? 1);

Deno.test({
  name:
    `no kernel changes what another gets, in ${COUNT} random orders${lacking()}`,
  ignore: lacking() !== "" || Deno.build.os !== "linux",
  async fn() {
    const said = await campaignApart(randomOrders(COUNT, SEED));
    console.log(
      `${said.changed.length} rows of ${said.rows} in ${COUNT} orders changed; ${said.taken} failures were not confirmed in a fresh process`,
    );
    assertEquals([said.changed, said.left], [[], []]);
  },
});
