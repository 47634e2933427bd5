/** Samples of the campaigns, which `deno task test:soak` runs whole. */

import { assertEquals } from "@std/assert";
import { lacking } from "../../cli/testdata/program.ts";
import { lackingSlurm } from "../../cli/testdata/cluster.ts";
import { bisectPlanted } from "./testdata/bisects.ts";
import { damageFiles } from "./testdata/damage.ts";
import { killCommands } from "./testdata/kills.ts";
import { randomOrders, runOrders } from "./testdata/orders.ts";
import { checkShapes } from "./testdata/shapes.ts";
import { killOnCluster } from "./testdata/slurm.ts";
import { writeAtOnce } from "./testdata/writers.ts";

const ignore = lacking() !== "";

Deno.test({
  name:
    `damaged files of each kind are refused in one line, or harmless${lacking()}`,
  ignore,
  async fn() {
    const tallies = await Array.fromAsync(
      damageFiles({ count: 5, seed: 20 }),
    );
    assertEquals(tallies.flatMap(({ failures }) => failures), []);
    for (const { kind, refused, same, edited } of tallies) {
      assertEquals(refused + same + edited, 5, kind);
    }
  },
});

Deno.test({
  name:
    `commands that were killed leave nothing torn, and nothing behind when given again${lacking()}`,
  ignore,
  async fn() {
    const { failures, killed } = await killCommands({ count: 5, seed: 3 });
    assertEquals(failures, []);
    assertEquals(Object.keys(killed).length, 5);
  },
});

Deno.test({
  name: `rows of programs that write at once are all there${lacking()}`,
  ignore,
  async fn() {
    const written = await writeAtOnce({ writers: 2, rounds: 1 });
    assertEquals(written, { rows: 2, failures: [] });
  },
});

Deno.test({
  name: `no kernel changes what another gets, in random orders${lacking()}`,
  ignore: ignore || Deno.build.os !== "linux",
  async fn() {
    assertEquals((await runOrders(randomOrders(10, 1))).failures, []);
  },
});

Deno.test({
  name: `auto is right at random points on the emulator${lacking()}`,
  ignore,
  async fn() {
    const { right, failures } = await checkShapes({ count: 4, seed: 5 });
    assertEquals(failures, []);
    assertEquals(right > 10, true);
  },
});

Deno.test({
  name:
    `git bisect finds one slower commit of 64 in at most 8 steps${lacking()}`,
  ignore,
  async fn() {
    const { failures } = await bisectPlanted({ count: 1, seed: 3 });
    assertEquals(failures, []);
  },
});

const noCluster = lackingSlurm() || lacking();

Deno.test({
  name: `no row is lost or there twice where a cluster loses jobs${noCluster}`,
  ignore: noCluster !== "",
  async fn() {
    const { failures } = await killOnCluster({ count: 4, seed: 2 });
    assertEquals(failures, []);
  },
});
