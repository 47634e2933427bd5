import { assertEquals, assertNotEquals } from "@std/assert";
import { codeOf } from "./cache_entry.ts";

const SOURCE = `#include "a.h"
__global__ void f(float *c) {
  c[0] = 1'000 / 2 * (L'x' + u8'"');
  const char *s = "/* no comment */ // nor this", q = '"';
  const char *raw = R"x(a " // b)" )x";
}
`;

Deno.test("codeOf() leaves out comments and blanks, and nothing else", () => {
  const commented = SOURCE
    .replace("#include", "// A \\\n   header.\n\n#include")
    .replace("{\n", "{ /* of one\n    'block' */\n")
    .replace("1'000", "1'000 /* \" */")
    .replaceAll(";\n", ";\t  // It's done.\r\n")
    .replace("float *c", "float   *c");
  assertEquals(codeOf(commented, "k.cu"), codeOf(SOURCE, "k.cu"));
  assertEquals(codeOf(SOURCE, "k.cu").split("\n").length, 6);
});

Deno.test("codeOf() keeps every character that is code", () => {
  const edits: readonly [string, string][] = [
    ["1'000", "1'001"],
    ["no comment", "another text"],
    ["nor this", "or this"],
    ['a " // b', 'a " // c'],
    ["L'x'", "L'y'"],
    ["c[0]", "c[1]"],
  ];
  for (const [from, to] of edits) {
    const other = SOURCE.replace(from, to);
    assertNotEquals(other, SOURCE);
    assertNotEquals(codeOf(other, "k.cu"), codeOf(SOURCE, "k.cu"), to);
  }
  assertEquals(codeOf("int a; /* open", "k.c"), "int a;");
});

Deno.test("codeOf() keeps what is indented in Python, and strings with a hash", () => {
  const program = 'def f():\n    return "# no comment"\n';
  const commented = `# About f.\n\n${program}    # The end.\n`;
  assertEquals(codeOf(commented, "p.py"), codeOf(program, "p.py"));
  assertNotEquals(
    codeOf(program.replace("    ", "  "), "p.py"),
    codeOf(program, "p.py"),
  );
  assertNotEquals(
    codeOf(program.replace("no comment", "b"), "p.py"),
    codeOf(program, "p.py"),
  );
});
