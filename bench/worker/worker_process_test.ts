import { assertEquals } from "@std/assert";
import { plainText, PrintOut } from "./worker_process.ts";

Deno.test("plainText() keeps text, line feeds and tabs only", () => {
  assertEquals(
    plainText("\x1b[31mµ\x1b[0m\ta\r\n\0b\x07\x7f\x85c\x1e"),
    "µ\ta\nbc",
  );
});

Deno.test("PrintOut passes on the beginning, and says once that there is more", () => {
  const told: string[] = [];
  const printOut = new PrintOut((text) => told.push(text));
  printOut.take("x".repeat(65_535));
  printOut.take("y");
  assertEquals(told.join(""), `${"x".repeat(65_535)}y`);
  printOut.take("z");
  printOut.take("z");
  assertEquals(told.slice(2), [
    "\n(the worker printed more than 65536 characters: the rest is left out)\n",
  ]);
});
