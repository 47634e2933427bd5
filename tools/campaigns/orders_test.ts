import { assertEquals } from "@std/assert";
import { lacking } from "../../cli/testdata/program.ts";
import { runOrders } from "./testdata/orders.ts";

Deno.test({
  name: `no kernel changes what another gets${lacking()}`,
  ignore: lacking() !== "" || Deno.build.os !== "linux",
  async fn() {
    const order =
      "writes_late right daemonizes sets right_touchy disowns resigns kills_parent";
    const { failures } = await runOrders([order.split(" ")]);
    assertEquals(failures, []);
  },
});
