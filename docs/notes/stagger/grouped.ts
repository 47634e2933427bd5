import { defineSuite } from "../../../bench/model/suite.ts";
import { groupedMatmul, kernels } from "../../../kernels/grouped/mod.ts";
import { BENCH_LISTS } from "../../../kernels/grouped/point.ts";
import { variant } from "./variants.ts";

const cuda = kernels.filter(({ backend }) => backend === "cuda");
const best = cuda.find(({ name }) => name === "best")!;
const lists = BENCH_LISTS.map(({ m, n, k }) => ({ m: m.join("+"), n, k }));

export default defineSuite({
  name: "stagger-grouped",
  title: "grouped-nvfp4, tiles of rows that start at other slabs of K",
  op: groupedMatmul,
  axes: { list: lists, layout: ["nt"] },
  kernels: [0, 1].flatMap((stagger) =>
    [2, 4].map((warpgroups) =>
      variant(
        best,
        `best-${warpgroups}${stagger ? "-stagger" : ""}`,
        Infinity,
        ({ MAXN, STAGGER, WARPGROUPS }) =>
          STAGGER === stagger && WARPGROUPS === warpgroups &&
          Number(MAXN) >= 128,
      )
    )
  ),
  baselines: ["best-4"],
});
