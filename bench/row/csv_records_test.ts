import { assertEquals } from "@std/assert";
import fc from "fast-check";
import { recordsOf } from "./csv_records.ts";

/** Few values, so that many fields are those of the line before, or start like them. */
const plain = fc.constantFrom("", "a", "ab", "abc", "b", "\t", "x".repeat(600));
const lines = fc.array(fc.array(plain, { minLength: 2, maxLength: 4 }), {
  maxLength: 8,
});

Deno.test("recordsOf() splits plain lines at their commas, however they come in pieces", () => {
  fc.assert(
    fc.property(
      lines,
      fc.constantFrom("\n", "\r\n"),
      fc.integer({ min: 1, max: 700 }),
      (records, end, size) => {
        const bytes = new TextEncoder().encode(
          records.map((fields) => fields.join(",") + end).join(""),
        );
        function* pieces() {
          const piece = new Uint8Array(size);
          for (let at = 0; at < bytes.length; at += size) {
            const part = bytes.subarray(at, at + size);
            piece.set(part);
            yield piece.subarray(0, part.length);
          }
        }
        const found = Array.from(recordsOf(pieces()), (fields) => [...fields]);
        assertEquals(found, records);
      },
    ),
  );
});

Deno.test("recordsOf() shows control characters, and says once that there are some", () => {
  let told = 0;
  const bytes = new TextEncoder().encode("a,b\x07\na,b\r\na\rc,d\n\x1b,é\n");
  const found = Array.from(
    recordsOf([bytes], () => told++),
    (fields) => [...fields],
  );
  assertEquals(found, [["a", "b␇"], ["a", "b"], ["a␍c", "d"], ["␛", "é"]]);
  assertEquals(told, 1);
});
