/**
 * Measures `diff`'s rate of false alarms: pairs of runs of the same code, compared with the
 * default settings, and every pair that fails confirmed with `compare`.
 *
 * deno run -A tools/false_alarms.ts [PAIRS] [bench options]
 *
 * @module
 */

import { fileURLToPath } from "node:url";

const MAIN = fileURLToPath(new URL("../cli/main.ts", import.meta.url));
const PAIRS = 20;
const SELECTION = [
  // Each run chooses its configs anew: that is part of what may differ.
  "--no-timing-cache",
  "--suite",
  "matmul-fp32",
  "--backend",
  "cpu",
  "--m",
  "16,32",
  "--k",
  "8192,16384",
];

interface Ran {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

async function mnkbench(args: readonly string[], cwd: string): Promise<Ran> {
  const { code, stdout, stderr } = await new Deno.Command(Deno.execPath(), {
    args: ["run", "--quiet", "-A", MAIN, ...args],
    cwd,
    stdin: "null",
  }).output();
  const text = (bytes: Uint8Array) => new TextDecoder().decode(bytes);
  return { code, stdout: text(stdout), stderr: text(stderr) };
}

async function main(args: readonly string[]): Promise<number> {
  const pairs = /^\d+$/.test(args[0] ?? "") ? Number(args[0]) : PAIRS;
  const rest = args.slice(/^\d+$/.test(args[0] ?? "") ? 1 : 0);
  const selection = rest.length > 0 ? rest : SELECTION;
  const folder = await Deno.makeTempDir();
  const counts: Record<string, number> = {};
  let [failing, confirmed] = [0, 0];
  try {
    for (let pair = 1; pair <= pairs; pair++) {
      const sides = ["base", "new"].map((side) => `${pair}/${side}`);
      for (const out of sides) {
        const run = ["bench", ...selection, "--runs", "5", "--out", out];
        const { code, stderr } = await mnkbench(run, folder);
        if (code !== 0) throw new Error(`${run.join(" ")} failed: ${stderr}`);
      }
      const how = ["--format", "json", "--only", "slower"];
      const diff = await mnkbench(["diff", ...sides, ...how], folder);
      const { counts: found, rows } = JSON.parse(diff.stdout);
      for (const [verdict, count] of Object.entries<number>(found)) {
        counts[verdict] = (counts[verdict] ?? 0) + count;
      }
      for (const { key, change } of rows) {
        const { kernel, m, n, k } = key;
        const percent = (100 * change).toFixed(1);
        console.log(`pair ${pair}: ${kernel} ${m}x${n}x${k} +${percent} %`);
      }
      if (diff.code === 0) continue;
      failing++;
      const compared = await mnkbench(
        ["compare", ...sides, ...how],
        folder,
      );
      if (compared.code !== 0) {
        confirmed++;
        console.log(
          `pair ${pair} confirmed, ${compared.code}: ${compared.stderr}`,
        );
      }
    }
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
  const rows = Object.values(counts).reduce((sum, count) => sum + count, 0);
  const share = 100 * (counts.slower ?? 0) / rows;
  console.log(
    `${pairs} pairs, ${rows} rows: ${
      Object.entries(counts).filter(([, count]) => count > 0)
        .map(([verdict, count]) => `${count} ${verdict}`).join(", ")
    }`,
  );
  console.log(
    `${
      share.toFixed(2)
    } % of rows slower; ${failing} pairs failing, ${confirmed} after compare`,
  );
  return share <= 1 && confirmed === 0 ? 0 : 1;
}

if (import.meta.main) Deno.exit(await main(Deno.args));
