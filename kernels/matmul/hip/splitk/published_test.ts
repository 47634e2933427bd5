/**
 * Compares the split-K family on gfx950 with what AITER publishes of an MI355X: the configs that
 * won there and their times.
 */

import { assert, assertEquals } from "@std/assert";
import { readCsv } from "../../../../bench/row/read_csv.ts";
import { mi355x } from "../../../testdata/devices.ts";
import { matmul } from "../../op.ts";
import type { MatmulPoint } from "../../point.ts";
import {
  predictSplitk,
  type SplitkConfig,
  splitkConfigs,
  splitkRules,
} from "./config.ts";
import { splitkPartials } from "./splitk.ts";

/** A shape in bf16, the fastest kernel there and its time in microseconds. */
interface Published {
  readonly point: MatmulPoint;
  readonly us: number;
  /** Its config where it is one of this family. */
  readonly config: SplitkConfig | undefined;
}

const PATH = "../../../../results/published/aiter-gfx950-256cu.csv";

/** `flydsl_gemm8_..._t16x64x64_split_k8_block_m_warp1_...`: the stages, then tile, splits, waves. */
const NAME =
  /flydsl_gemm(\d+)_.*_t(\d+)x(\d+)x(\d+)_split_k(\d+)_block_m_warp(\d)_block_n_warp(\d)_block_k_warp(\d)_async_copyTrue_b_to_ldsTrue/;

function configOf(name: string): SplitkConfig | undefined {
  const found = NAME.exec(name);
  if (!found) return undefined;
  const [STAGES, TM, TN, TK, SPLIT, WAVES_M, WAVES_N, WAVES_K] = found.slice(1)
    .map(Number) as [
      ...[number, number, number, number],
      ...[number, number, number, number],
    ];
  const tile = { TM, TN, TK, SPLIT, WAVES_M, WAVES_N, WAVES_K };
  return { ...tile, STAGES, ASYNC: 1, B_TO_LDS: 1 };
}

function pointOf(m: number, n: number, k: number): MatmulPoint {
  return matmul.point({ m, n, k, type: "bf16", layout: "nt" });
}

const text = Deno.readTextFileSync(new URL(PATH, import.meta.url));
const published: readonly Published[] = readCsv(text, PATH)
  .filter((row) => row.a_type === "bf16" && row.layout === "nt")
  .map(({ m, n, k, config, mean_us }) => ({
    point: pointOf(Number(m), Number(n), Number(k)),
    us: Number(mean_us),
    config: configOf(config ?? ""),
  }));
const winners = published.flatMap(({ config, ...rest }) =>
  config ? [{ ...rest, config }] : []
);

Deno.test("splitkRules() allow on gfx950 all that AITER publishes for it", () => {
  assertEquals(winners.length, 618);
  const rules = Object.entries(splitkRules("atomic"));
  const refused = winners.flatMap(({ point, config }) =>
    rules.flatMap(([name, rule]) => rule(point, config, mi355x) ? [name] : [])
  );
  assertEquals(refused, []);
  // What only this GPU has room for is among them.
  const large = winners.filter(({ point, config }) =>
    splitkRules("atomic").lds!(point, config, {
      ...mi355x,
      sharedBytes: 64 << 10,
    })
  );
  assert(large.length > 100, `${large.length}`);
});

Deno.test("splitkConfigs() have 97 % of AITER's winners on gfx950", () => {
  const textOf = (c: SplitkConfig) =>
    [
      ...[c.TM, c.TN, c.TK, c.STAGES, c.SPLIT, c.WAVES_M, c.WAVES_N, c.WAVES_K],
      ...[c.ASYNC, c.B_TO_LDS],
    ].join();
  const most = Math.max(...winners.map(({ point }) => point.m));
  const listed = new Set([...splitkConfigs({ m: most }, mi355x)].map(textOf));
  const found = winners.filter(({ config }) => listed.has(textOf(config)));
  assert(found.length >= 0.97 * winners.length, `${found.length}`);
});

Deno.test("predictSplitk() is 10 % off AITER's times on gfx950, in the mean", () => {
  const errors = winners.map(({ point, config, us }) =>
    Math.log(predictSplitk(point, config, mi355x) / us)
  );
  const mean = (of: readonly number[]) =>
    of.reduce((sum, x) => sum + x, 0) / of.length;
  assert(mean(errors.map(Math.abs)) < 0.1, `${mean(errors.map(Math.abs))}`);
  assert(Math.abs(mean(errors)) < 0.03, `${mean(errors)}`);
});

/** The shapes of the README's table: N and K. */
const SHAPES = [
  "256x7168 512x7168 1024x7168 2112x7168 640x2880",
  "5120x2880 2880x2048 2880x4096 3072x1536 7168x2048",
].join(" ").split(" ").map((shape) => shape.split("x").map(Number));

Deno.test("README.md has the model's times for an MI355X beside AITER's", () => {
  const lines = SHAPES.flatMap(([n = 0, k = 0]) =>
    [1, 16, 128].map((m) => {
      const point = pointOf(m, n, k);
      const [best] = splitkPartials.candidates(point, mi355x);
      const c = best!.config as SplitkConfig;
      const at = published.filter((row) =>
        row.point.m === m && row.point.n === n && row.point.k === k
      );
      const us = Math.min(...at.map((row) => row.us));
      return [
        `${m} x ${n} x ${k}`,
        `t${c.TM}x${c.TN}x${c.TK} S${c.SPLIT} W${c.WAVES_M}x${c.WAVES_N}x${c.WAVES_K} ${c.STAGES} stages`,
        best!.predicted!.toFixed(1),
        Number.isFinite(us) ? us.toFixed(1) : "",
      ].join(" | ");
    })
  );
  const readme = Deno.readTextFileSync(new URL("../README.md", import.meta.url))
    .replaceAll(/ *\| */g, " | ");
  assertEquals(lines.filter((line) => !readme.includes(line)), []);
});
