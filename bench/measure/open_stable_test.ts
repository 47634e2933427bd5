import { assertStrictEquals } from "@std/assert";
import { fake } from "../../backends/fake/fake.ts";
import { BinaryCache } from "../device/binary_cache.ts";
import type { Backend } from "../device/device.ts";
import { ManualClock } from "../testdata/manual_clock.ts";
import { Pulse } from "../worker/clock.ts";
import { openSteady } from "./open_stable.ts";

/** Opens once for each of `ns`, the time of a launch in that opening; counts the openings. */
async function opened(ns: readonly number[], openings?: number) {
  let count = 0;
  let alive = 0;
  const base = fake({ kernels: {} });
  const backend: Backend = {
    ...base,
    ...(openings === undefined ? {} : { openings }),
    open(info) {
      const own = ns[Math.min(count++, ns.length - 1)]!;
      alive++;
      const device = fake({ kernels: { load_only: { ns: own } } }).open(info);
      return Object.assign(device, { [Symbol.dispose]: () => void alive-- });
    },
  };
  const dir = await Deno.makeTempDir();
  const pulse = new Pulse(() => {});
  const [info] = base.find().devices;
  await openSteady(backend, info!, new BinaryCache(dir), pulse);
  await Deno.remove(dir, { recursive: true });
  assertStrictEquals(alive, 1, "all but the kept device are closed");
  return count;
}

Deno.test("openSteady() opens once where nothing varies", async () => {
  assertStrictEquals(await opened([9000, 1000]), 1);
});

Deno.test("openSteady() goes on until an opening is as good as the best", async () => {
  assertStrictEquals(await opened([3000, 3500, 3500, 3500, 3010], 3), 5);
  assertStrictEquals(await opened([3500, 3500, 3000], 3), 3);
});

Deno.test("openSteady() keeps what it gets in the end", async () => {
  assertStrictEquals(await opened([3000, 4000], 3), 12);
});

Deno.test("openSteady() says that it lives while the instruments are compiled", async () => {
  const compiled = Promise.withResolvers<void>();
  const base = fake({ kernels: { load_only: { ns: 1000 } } });
  const backend: Backend = {
    ...base,
    openings: 2,
    compiler(arch) {
      const compiler = base.compiler(arch);
      return {
        ...compiler,
        async compile(build, binary) {
          await compiled.promise;
          return await compiler.compile(build, binary);
        },
      };
    },
  };
  const clock = new ManualClock();
  let beats = 0;
  const pulse = new Pulse(() => beats++, clock);
  const dir = await Deno.makeTempDir();
  const [info] = base.find().devices;
  const opening = openSteady(backend, info!, new BinaryCache(dir), pulse);
  for (let i = 1; i <= 3; i++) {
    await clock.armed();
    clock.advance(50);
    assertStrictEquals(beats, i);
  }
  compiled.resolve();
  using _ = await opening;
  await Deno.remove(dir, { recursive: true });
});
