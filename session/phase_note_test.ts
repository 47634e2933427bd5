import { assertEquals } from "@std/assert";
import { DEFAULTS } from "../bench/model/settings.ts";
import { keyFor } from "../bench/testdata/rows.ts";
import type { Event } from "../bench/worker/protocol.ts";
import { PhaseNote, titleOf } from "./phase_note.ts";

const key = keyFor("tiled");
const title = titleOf(key);
const tuned: Event = {
  event: "tuned",
  key,
  config: "",
  by: "search",
  timed: 1,
  failed: 0,
  ms: 0,
  finalists: [],
};
const events: readonly Event[] = [
  { event: "build", done: 0, total: 2 },
  { event: "case", key },
  { event: "progress", note: "reference" },
  { event: "progress", note: "search 1/2", trying: { key, config: "I=1" } },
  { event: "build", done: 1, total: 2 },
  tuned,
  { event: "build", done: 2, total: 2 },
];

Deno.test("PhaseNote says what is built, and whether a case is searched, timed or checked", () => {
  const notes = (settings: typeof DEFAULTS) => {
    const note = new PhaseNote(settings);
    return events.map((event) => note.take(event));
  };
  assertEquals(notes(DEFAULTS), [
    "build 0/2",
    `build 0/2, time ${title}`,
    undefined,
    `build 0/2, search ${title}`,
    `build 1/2, search ${title}`,
    `build 1/2, time ${title}`,
    `time ${title}`,
  ]);
  const checked = { ...DEFAULTS, checkOnly: true };
  assertEquals(notes(checked).at(-1), `check ${title}`);
});
