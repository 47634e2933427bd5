import { assertEquals } from "@std/assert";
import type { Row } from "../row/row.ts";
import { timedRow } from "../testdata/rows.ts";
import { type Event, formatEvent, RecordReader } from "./protocol.ts";

const NONCE = "0f-1";

function read(pieces: readonly string[]): { events: Event[]; printed: string } {
  const events: Event[] = [];
  let printed = "";
  const reader = new RecordReader({
    event: (event) => events.push(event),
    printed: (text) => printed += text,
  }, { nonce: NONCE });
  for (const piece of pieces) reader.push(piece);
  reader.end();
  return { events, printed };
}

const PROGRESS: Event = { event: "progress", note: "1/2\n \x1e ü" };

Deno.test("RecordReader finds events however the stream is cut", () => {
  const text = `one\n${formatEvent(PROGRESS, NONCE)}two ${
    formatEvent(PROGRESS, NONCE)
  }three`;
  for (let size = 1; size <= text.length; size++) {
    const pieces = [];
    for (let at = 0; at < text.length; at += size) {
      pieces.push(text.slice(at, at + size));
    }
    assertEquals(read(pieces), {
      events: [PROGRESS, PROGRESS],
      printed: "one\ntwo three",
    });
  }
});

Deno.test("RecordReader takes a record that is no event for something printed", () => {
  for (
    const value of [
      ...["", "17", "null", "[]", '{"event":1}', '{"event":"toString"}'],
      ...['{"event":"row"}', '{"event":"row","row":{"status":"ok"}}'],
      ...['{"event":"case","key":{"m":1}}', '{"event":"done","spent":{}}'],
    ]
  ) {
    const text = `\x1e${NONCE}${value}\n`;
    assertEquals(read([text]), { events: [], printed: text });
  }
});

Deno.test("RecordReader passes on a torn event at the end", () => {
  const torn = formatEvent(PROGRESS, NONCE).slice(0, -1);
  assertEquals(read([torn]), { events: [], printed: torn });
});

Deno.test("RecordReader takes a record without the nonce for something printed", () => {
  for (const nonce of ["", "0f-2", "0F-1"]) {
    const text = formatEvent(PROGRESS, nonce);
    assertEquals(read([text]), { events: [], printed: text });
  }
});

Deno.test("RecordReader does not hoard what has no line feed", () => {
  for (const begin of ["", "\x1e", `\x1e${NONCE}`]) {
    let printed = begin.length;
    const reader = new RecordReader({
      event: () => {},
      printed: (text) => printed -= text.length,
    }, { nonce: NONCE, limit: 200_000 });
    reader.push(begin);
    for (let i = 0; i < 400; i++) {
      reader.push("x".repeat(1000));
      printed += 1000;
      assertEquals(printed <= 201_000, true, begin);
    }
  }
});

Deno.test("RecordReader finds a long event behind much that was printed", () => {
  const note = "y".repeat(150_000);
  const event: Event = { event: "progress", note };
  const text = "x".repeat(70_000) + formatEvent(event, NONCE);
  const size = 69_999;
  const pieces = [text.slice(0, 70_002), text.slice(70_002, 70_002 + size)];
  pieces.push(text.slice(70_002 + size));
  assertEquals(read(pieces), {
    events: [event],
    printed: "x".repeat(70_000),
  });
});

Deno.test("formatEvent() carries numbers that are not finite", () => {
  const timed = timedRow("k");
  const row: Row = {
    ...timed,
    note: "NaN",
    accuracy: {
      ...timed.accuracy,
      max_abs_err: NaN,
      max_rel_err: Infinity,
      rel_l2_err: -Infinity,
    },
  };
  const event: Event = { event: "row", row, samples: [1, NaN] };
  assertEquals(read([formatEvent(event, NONCE)]).events, [event]);
});
