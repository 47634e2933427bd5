import { deepStrictEqual, strictEqual } from "node:assert/strict";
import { DEFAULTS, type Selection } from "../../bench/model/settings.ts";
import {
  inputWords,
  quoted,
  selectionWords,
  type Told,
  wholeWords,
} from "./command_words.ts";
import { kernelCacheOf, timingCacheOf } from "../../session/home.ts";

const SELECTION: Selection = {
  suites: ["decompose-k", "/my suites/mine.ts"],
  kernels: [],
  backend: "hip",
  device: 0,
  points: "all",
  overrides: {},
  where: {},
};
const SETTINGS = {
  cacheDir: kernelCacheOf(undefined),
  timingCache: timingCacheOf(undefined, undefined),
  level: DEFAULTS.level,
};

const told = (
  selection: Partial<Selection>,
  settings: Partial<Told["settings"]> = {},
): Told => ({
  selection: { ...SELECTION, ...selection },
  suites: [{ name: "decompose-k" }, { name: "mine" }],
  settings: { ...SETTINGS, ...settings },
});

Deno.test("selectionWords() has the suite as it was given, and always the backend", () => {
  deepStrictEqual(selectionWords("decompose-k", told({})), [
    "--suite decompose-k",
    "--backend hip",
  ]);
  deepStrictEqual(selectionWords("mine", told({ device: 2 })), [
    "--suite '/my suites/mine.ts'",
    "--backend hip",
    "--device 2",
  ]);
  const overrides = { m: [4], layout: ["nn", "nt"] };
  deepStrictEqual(selectionWords("decompose-k", told({ overrides })), [
    ...["--suite decompose-k", "--backend hip"],
  ]);
});

Deno.test("selectionWords() names the files of the run where they are not the usual ones", () => {
  const of = (settings: Partial<Told["settings"]>) =>
    selectionWords("decompose-k", told({}, settings)).slice(2);
  deepStrictEqual(of({ cacheDir: "/c", timingCache: "/c/timings.json" }), [
    "--kernel-cache /c",
  ]);
  deepStrictEqual(of({ timingCache: "/it's" }), [
    "--timing-cache '/it'\\''s'",
  ]);
  const { cacheDir } = SETTINGS;
  const without: Told["settings"] = { cacheDir, level: 3 };
  const words = (settings: Told["settings"]) =>
    selectionWords("decompose-k", { ...told({}), settings }).slice(2);
  deepStrictEqual(words(without), ["--no-timing-cache"]);
  deepStrictEqual(words({ ...without, level: 0 }), ["--level 0"]);
});

Deno.test("wholeWords() has every suite, kernel and size", () => {
  const overrides = { m: [1, 8], k: [64], layout: ["nt"] };
  deepStrictEqual(wholeWords(told({ kernels: ["naive"], overrides })), [
    ...["--suite decompose-k", "--suite '/my suites/mine.ts'"],
    ...[
      "--kernel naive",
      "--m 1,8",
      "--k 64",
      "--axis layout=nt",
      "--backend hip",
    ],
  ]);
});

Deno.test("inputWords() has what makes other inputs", () => {
  deepStrictEqual(inputWords(DEFAULTS), []);
  deepStrictEqual(inputWords({ fill: "integers", seed: 7 }), [
    "--fill integers",
    "--seed 7",
  ]);
});

Deno.test("quoted() leaves plain words as they are", () => {
  strictEqual(quoted("./a-b_c.ts"), "./a-b_c.ts");
  strictEqual(quoted("a b"), "'a b'");
  strictEqual(quoted(""), "''");
});
