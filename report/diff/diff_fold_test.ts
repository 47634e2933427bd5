import { deepStrictEqual, ok, strictEqual } from "node:assert/strict";
import { summarizeDiff } from "./diff.ts";
import { foldMissing } from "./diff_fold.ts";
import { diffJson } from "./diff_json.ts";
import { diffMarkdown } from "./diff_md.ts";
import { diffText } from "./diff_text.ts";
import { intervalOf } from "./interval.ts";
import { join, type Placed } from "./join.ts";
import { placed } from "../testdata/csv_rows.ts";
import { DEFAULT_THRESHOLD } from "./thresholds.ts";
import { judge, VERDICTS } from "./verdict.ts";

const diffOf = (base: readonly Placed[], next: readonly Placed[]) =>
  summarizeDiff(
    join(base, next).map((pair) =>
      judge(pair, { threshold: DEFAULT_THRESHOLD, interval: intervalOf })
    ),
  );
const SHOW = {
  only: VERDICTS.filter((verdict) => verdict !== "same"),
  failOn: [],
  fold: true,
};

const CPU = { device: "CPU" };
const PARTIAL = diffOf([
  placed({ kernel: "a" }),
  placed({ kernel: "b" }),
  placed({ kernel: "a", suite: "other" }),
  placed({ kernel: "b", suite: "other" }),
  placed({ kernel: "cpu", ...CPU }),
  placed({ kernel: "never", status: "unsupported", median_us: "" }),
  placed({ kernel: "never", ...CPU, status: "unsupported", median_us: "" }),
], [placed({ kernel: "a" })]);

Deno.test("foldMissing() has a line for each suite on a device that NEW lacks, and counts all", () => {
  const { rows, lines } = foldMissing(PARTIAL, SHOW);
  const { device } = placed().row;
  deepStrictEqual(lines, [
    `2 missing in other on ${device}: no row of it in NEW`,
    "1 missing in s on CPU: no row of it in NEW",
  ]);
  deepStrictEqual(rows.map(({ pair }) => pair.base!.row.kernel), ["b"]);
  strictEqual(PARTIAL.counts.missing, 4);
});

Deno.test("foldMissing() keeps every row where it is not to fold, and lists what is asked for", () => {
  const all = foldMissing(PARTIAL, { ...SHOW, fold: false });
  deepStrictEqual([all.rows.length, all.lines.length], [4, 0]);
  const none = foldMissing(PARTIAL, { ...SHOW, only: ["slower"] });
  deepStrictEqual(none, { rows: [], lines: [] });
});

Deno.test("diffText() and diffMarkdown() fold, diffJson() has every row", () => {
  const text = diffText(PARTIAL, { ...SHOW, color: false, width: 120 });
  strictEqual(text.filter((line) => line.includes("no row of it")).length, 2);
  strictEqual(text.filter((line) => line.startsWith("missing ")).length, 1);
  ok(
    diffMarkdown(PARTIAL, SHOW).includes(
      "- 1 missing in s on CPU: no row of it in NEW",
    ),
  );
  strictEqual(JSON.parse(diffJson(PARTIAL, SHOW)).rows.length, 4);
});

Deno.test("summarizeDiff() does not miss what BASE could not run", () => {
  const never = PARTIAL.judged.filter(({ pair }) =>
    pair.base?.row.kernel === "never"
  );
  deepStrictEqual(
    never.map(({ verdict }) => verdict),
    ["same", "same"],
  );
  const crashed = diffOf([placed({ status: "crash", median_us: "" })], []);
  strictEqual(crashed.counts.missing, 1);
});

Deno.test("summarizeDiff() leaves what is above SOL out of means, whatever its verdict", () => {
  const sol = { sol_us: "8" };
  const { counts, means: [mean] } = diffOf([
    placed({ kernel: "a" }),
    placed({ kernel: "new", ...sol }),
    placed({ kernel: "base", median_us: "5", ...sol }),
    placed({ kernel: "hidden", rel_l2_err: "0.001", ...sol }),
    placed({ kernel: "warm", cache: "warm", ...sol }),
  ], [
    placed({ kernel: "a", median_us: "11" }),
    placed({ kernel: "new", median_us: "5", ...sol }),
    placed({ kernel: "base", ...sol }),
    placed({ kernel: "hidden", rel_l2_err: "1", median_us: "5", ...sol }),
    placed({ kernel: "warm", cache: "warm", median_us: "5", ...sol }),
  ]);
  deepStrictEqual([counts.suspect, counts["less-accurate"]], [2, 1]);
  deepStrictEqual([mean!.n, mean!.suspect, mean!.of], [2, 3, 5]);
  ok(Math.abs(mean!.change! - (Math.sqrt(1.1 * 0.5) - 1)) < 1e-12);
});
