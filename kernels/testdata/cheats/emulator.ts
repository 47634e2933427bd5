/**
 * Runs and times CUDA kernels that cheat on the lane emulator, whose clock only work moves.
 *
 * @module
 */

import {
  cudaControls,
  emulatedCuda,
} from "../../../backends/testdata/cuda_mocks.ts";
import { BinaryCache } from "../../../bench/device/binary_cache.ts";
import { run } from "../../../bench/measure/case_run.ts";
import { BenchContext } from "../../../bench/measure/context.ts";
import { DEFAULTS } from "../../../bench/model/settings.ts";
import suite, { SOURCES } from "./suite.ts";
import { type Cheat, HONEST, type Verdict } from "./table.ts";

/** Runs `cheats`, and the honest kernel once for each timer. */
export async function emulated(
  cheats: readonly Cheat[],
): Promise<readonly Verdict[]> {
  const folder = await Deno.makeTempDir();
  // The harness's own kernels take minutes there; the cheats' file has what is called of them.
  const backend = { ...emulatedCuda(), instruments: SOURCES.cuda };
  const cache = new BinaryCache(folder);
  const controls = cudaControls();
  const verdicts: Verdict[] = [];
  const timers = new Set(cheats.map(({ timer = "do_bench" }) => timer));
  const all: Cheat[] = [
    ...cheats,
    ...[...timers].map((timer) => ({ name: HONEST, notes: {}, timer })),
  ];
  try {
    for (const { name, type = "f32", timer = "do_bench" } of all) {
      // A launch that fails spoils the context.
      controls.reset();
      using device = backend.open(backend.find().devices[0]!);
      using context = await BenchContext.open({
        backend,
        device,
        cache,
        settings: {
          ...DEFAULTS,
          // 24 samples: one call takes a millisecond.
          warmup: 0.05,
          rep: 24,
          timer,
          cache: "warm",
          cacheDir: folder,
        },
        run: "cheats",
        harness: "0.0.0",
        date: () => "2026-01-01T00:00:00Z",
        emit() {},
      });
      const c = [...suite.cases("all")].find((c) =>
        c.backend === "cuda" && c.kernel === name &&
        c.problem.key.a_type === type
      )!;
      const { row: { status, note } } = await run(c, context);
      verdicts.push({ kernel: name, status, note });
    }
  } finally {
    controls.reset();
    await Deno.remove(folder, { recursive: true });
  }
  return verdicts;
}
