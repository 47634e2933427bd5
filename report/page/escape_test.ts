import { deepStrictEqual, strictEqual } from "node:assert/strict";
import { escapeHtml, scriptJson } from "./escape.ts";

const NASTY = `</script><script>alert("1")</script><!-- & ' \u2028`;

Deno.test("escapeHtml() leaves nothing that ends a text or an attribute", () => {
  strictEqual(
    /[<>"']|&(?!amp;|lt;|gt;|quot;|#39;)/.test(escapeHtml(NASTY)),
    false,
  );
});

Deno.test("scriptJson() has no < and reads back as what it was", () => {
  const text = scriptJson({ note: NASTY });
  strictEqual(/[<\u2028]/.test(text), false);
  deepStrictEqual(JSON.parse(text), { note: NASTY });
});
