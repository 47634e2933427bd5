import { deepStrictEqual, strictEqual } from "node:assert/strict";
import { type Event, formatEvent } from "./protocol.ts";
import { RecordReader } from "./records.ts";

function read(pieces: readonly string[]): { events: Event[]; printed: string } {
  const events: Event[] = [];
  let printed = "";
  const reader = new RecordReader({
    event: (event) => events.push(event),
    printed: (text) => printed += text,
  });
  for (const piece of pieces) reader.push(piece);
  reader.end();
  return { events, printed };
}

const PROGRESS: Event = { event: "progress", note: "1/2\n \x1e ü" };

Deno.test("RecordReader finds events however the stream is cut", () => {
  const text = `one\n${formatEvent(PROGRESS)}two ${formatEvent(PROGRESS)}three`;
  for (let size = 1; size <= text.length; size++) {
    const pieces = [];
    for (let at = 0; at < text.length; at += size) {
      pieces.push(text.slice(at, at + size));
    }
    deepStrictEqual(read(pieces), {
      events: [PROGRESS, PROGRESS],
      printed: "one\ntwo three",
    });
  }
});

Deno.test("RecordReader takes a record that is no event for something printed", () => {
  for (
    const text of ["\x1e\n", "\x1e17\n", "\x1enull\n", '\x1e{"event":1}\n']
  ) {
    deepStrictEqual(read([text]), { events: [], printed: text });
  }
});

Deno.test("RecordReader passes on a torn event at the end", () => {
  const torn = formatEvent(PROGRESS).slice(0, -1);
  deepStrictEqual(read([torn]), { events: [], printed: torn });
});

Deno.test("RecordReader does not hoard what has no line feed", () => {
  let printed = 0;
  const reader = new RecordReader({
    event: () => {},
    printed: (text) => printed += text.length,
  });
  for (let i = 0; i < 100; i++) reader.push("x".repeat(1000));
  strictEqual(printed > 60_000, true);
});
