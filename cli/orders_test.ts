import { assertEquals } from "@std/assert";
import { campaignApart } from "./testdata/orders.ts";
import { lacking } from "./testdata/program.ts";

Deno.test({
  name: `no kernel changes what another gets${lacking()}`,
  ignore: lacking() !== "" || Deno.build.os !== "linux",
  async fn() {
    const order = "writes_late right daemonizes sets right_touchy kills_parent";
    const { changed, left } = await campaignApart([order.split(" ")]);
    assertEquals({ changed, left }, { changed: [], left: [] });
  },
});
