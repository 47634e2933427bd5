import { assert, assertEquals } from "@std/assert";
import { archInfo } from "../cli/commands/build/kernels.ts";
import { aligned } from "../bench/files/terminal_text.ts";
import { rowsOn } from "../session/hints.ts";
import { type AutoTried, tryAuto } from "./testdata/auto.ts";

const ARCH = "sm_90a";
const { info } = archInfo(ARCH);

const least = (list: readonly number[]) => Math.min(...list);
const geomean = (list: readonly number[]) =>
  Math.exp(list.reduce((sum, x) => sum + Math.log(x), 0) / list.length);
const figure = (list: readonly number[], of: typeof least) =>
  list.length === 0 ? "-" : of(list).toFixed(3);

/** Prints a line for each suite, and one for all. @returns The ratios of all. */
function told(what: string, tried: readonly AutoTried[]): readonly number[] {
  const suites = [
    ...Map.groupBy(tried, ({ suite }) => suite),
    [
      "all",
      tried,
    ] as const,
  ];
  const lines = suites.map(([suite, own]) => {
    const ratios = own.map(({ ratio }) => ratio);
    const exact = own.filter((one) => one.exact).map(({ ratio }) => ratio);
    const libraries = own.flatMap((one) => one.overLibrary ?? []);
    return [
      ...[suite, `${own.length}`],
      ...[figure(ratios, geomean), figure(ratios, least)],
      ...[`${exact.length}`, figure(exact, geomean), figure(exact, least)],
      ...[figure(libraries, geomean), figure(libraries, least)],
    ];
  });
  const head = [
    ...["suite", "points", "geomean", "worst", "same config", "geomean"],
    ...["worst", "over library", "worst"],
  ];
  console.log([what, ...aligned([head, ...lines])].join("\n"));
  return tried.map(({ ratio }) => ratio);
}

for (const library of [false, true]) {
  const name = library ? "auto-library" : "auto";
  const trial = { info, rows: rowsOn(info), library };

  Deno.test(`${name} is the fastest recorded kernel at recorded points`, () => {
    const tried = tryAuto(trial);
    const ratios = told(`${name}, recorded points`, tried);
    assert(ratios.length > 100);
    assert(geomean(ratios) >= 0.98 && least(ratios) >= 0.93);
    if (library) {
      const over = tried.flatMap((one) => one.overLibrary ?? []);
      assert(least(over) >= 0.98);
    }
  });

  Deno.test(`${name} is near the fastest at points that are left out`, () => {
    const ratios = told(
      `${name}, each point left out`,
      tryAuto({ ...trial, without: 0 }),
    );
    assertEquals(ratios.length > 100, true);
    assert(geomean(ratios) >= 0.98, `${geomean(ratios)}`);
  });

  Deno.test(`${name} is not far behind where none within a factor of 4 is left`, () => {
    const ratios = told(
      `${name}, all within a factor of 4 left out`,
      tryAuto({ ...trial, without: 2 }),
    );
    assert(geomean(ratios) >= 0.93, `${geomean(ratios)}`);
  });
}
