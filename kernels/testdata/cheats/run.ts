/**
 * Runs kernels that cheat as `mnkbench bench` does, and prints their rows as a table:
 *
 * ```sh
 * deno run -A kernels/testdata/cheats/run.ts cpu emulator
 * ```
 *
 * @module
 */

import { fileURLToPath } from "node:url";
import { emulated } from "./emulator.ts";
import {
  type Cheat,
  cheatsAt,
  HONEST,
  type Place,
  type Verdict,
} from "./table.ts";

const MAIN = fileURLToPath(new URL("../../../cli/main.ts", import.meta.url));
const SUITE = fileURLToPath(new URL("./suite.ts", import.meta.url));

/** Runs `cheats` and, for each way of timing, the honest kernel after them. */
export async function verdictsOf(
  backend: Exclude<Place, "emulator">,
  cheats: readonly Cheat[],
): Promise<readonly Verdict[]> {
  const all: Verdict[] = [];
  const ways = Map.groupBy(
    cheats,
    ({ timer = "do_bench", cache = "warm" }) => `${timer} ${cache}`,
  );
  for (const [way, group] of ways) {
    const [timer, cache] = way.split(" ");
    all.push(
      ...await rowsOf([
        ...["--backend", backend, "--timer", timer!, "--cache", cache!],
        ...group.flatMap(({ name }) => ["--kernel", name]),
        ...["--kernel", HONEST],
      ]),
    );
  }
  return all;
}

/** The rows of a run with `args`. */
async function rowsOf(args: readonly string[]): Promise<readonly Verdict[]> {
  const out = await Deno.makeTempDir();
  try {
    const { stdout, stderr } = await new Deno.Command(Deno.execPath(), {
      args: [
        ...["run", "-A", "--quiet", MAIN, "bench", "--suite", SUITE],
        ...["--warmup", "1", "--rep", "5", "--out", out, "--json", ...args],
      ],
      cwd: out,
    }).output();
    const text = new TextDecoder().decode(stdout).trim();
    if (text === "") throw new Error(new TextDecoder().decode(stderr));
    return text.split("\n").map((line): Verdict => JSON.parse(line))
      // A kernel has one row for each type of the suite.
      .filter(({ status }) => status !== "unsupported");
  } finally {
    await Deno.remove(out, { recursive: true });
  }
}

if (import.meta.main) {
  console.log(
    "| place | cheat | status | median µs | note |\n| --- | --- | --- | ---: | --- |",
  );
  const places = Deno.args.length > 0
    ? Deno.args as Place[]
    : ["cpu", "emulator"] as const;
  for (const place of places) {
    const cheats = cheatsAt(place);
    const rows = place === "emulator"
      ? await emulated(cheats)
      : await verdictsOf(place, cheats);
    for (const { kernel, status, note, median_us } of rows) {
      const text = note.replaceAll("|", "\\|");
      console.log(
        `| ${place} | ${kernel} | ${status} | ${
          median_us?.toFixed(2) ?? ""
        } | ${text} |`,
      );
    }
  }
}
