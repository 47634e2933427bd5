import { UserError } from "../../bench/model/errors.ts";
import { assertEquals, assertThrows } from "@std/assert";
import { contentOf, fillBlocks, findBlocks, splitWords } from "./splice.ts";

const TEXT = `# Title

<!-- mnkbench:begin table 'my results' --wins -->
old
<!-- mnkbench:end -->

\`\`\`md
<!-- mnkbench:begin table not-this -->
\`\`\`

<!-- mnkbench:begin table b -->
<!-- mnkbench:end -->
tail`;

Deno.test("findBlocks() finds markers, but not those in fenced code", () => {
  const blocks = findBlocks(TEXT, "f.md");
  assertEquals(blocks, [
    {
      line: 3,
      end: 5,
      words: ["table", "my results", "--wins"],
      command: "table 'my results' --wins",
    },
    { line: 11, end: 12, words: ["table", "b"], command: "table b" },
  ]);
  assertEquals(blocks.map((b) => contentOf(TEXT, b)), ["old", ""]);
});

for (
  const [name, text] of [["LF", TEXT], [
    "CRLF",
    TEXT.replaceAll("\n", "\r\n"),
  ]] as const
) {
  Deno.test(`fillBlocks() changes nothing but what is between markers, in ${name}`, () => {
    const blocks = findBlocks(text, "f.md");
    const filled = fillBlocks(text, blocks, ["a\nb", "c"]);
    assertEquals(
      filled.replaceAll("\r", ""),
      TEXT.replace("old", "a\nb").replace("table b -->", "table b -->\nc"),
    );
    const ends = (t: string) => [...t.matchAll(/\r/g)].length;
    assertEquals(
      ends(filled),
      name === "LF" ? 0 : filled.split("\n").length - 1,
    );
    const again = findBlocks(filled, "f.md");
    assertEquals(again.map((b) => contentOf(filled, b)), ["a\nb", "c"]);
    assertEquals(fillBlocks(filled, again, ["a\nb", "c"]), filled);
  });
}

const BEGIN = "<!-- mnkbench:begin table a -->";
const END = "<!-- mnkbench:end -->";

/** Texts, and how each is refused. */
const REFUSED: readonly (readonly [string, string])[] = [
  ["nothing", "Cannot splice f.md: no line has a marker"],
  [`${BEGIN}\n`, "line 1 begins a table that does not end"],
  [`x\n${END}`, "line 2 ends a table that was not begun"],
  [`${BEGIN}\n${BEGIN}\n${END}`, "line 2 begins a table inside that of line 1"],
  [BEGIN.replace(" a", " 'a"), "line 1 has a quote that is not closed"],
  [`\`\`\`\n${BEGIN}\n${END}\n\`\`\``, "no line has a marker"],
];

for (const [text, why] of REFUSED) {
  Deno.test(`findBlocks() refuses ${JSON.stringify(text)}`, () => {
    assertThrows(() => findBlocks(text, "f.md"), UserError, why);
  });
}

Deno.test("splitWords() takes quotes off and keeps blanks in them", () => {
  assertEquals(splitWords(`table a"b c"d 'e "f"'  g`), [
    "table",
    "ab cd",
    'e "f"',
    "g",
  ]);
  assertEquals(splitWords("table 'a"), undefined);
  assertEquals(splitWords(""), []);
});
