import {
  deepStrictEqual,
  match,
  strictEqual,
  throws,
} from "node:assert/strict";
import { link } from "./link.ts";
import { pageScript } from "./script.ts";

Deno.test("link() runs modules in the order of their needs, each in its own scope", () => {
  const seen: string[] = [];
  const script = link({
    main: `import { twice } from "./math.ts";
import type { Only } from "./only_types.ts";
const LOCAL = "main";
export function start(): void {
  const value: Only = twice(4);
  seen.push(LOCAL, \`\${value}\`);
}
`,
    math: `/** Doubles. */
const LOCAL = 2;
export function twice(x: number): number { return LOCAL * x; }
`,
  }, "main");
  new Function("seen", script)(seen);
  deepStrictEqual(seen, ["main", "8"]);
});

Deno.test("link() refuses circles, other imports and modules that there are not", () => {
  const use = (name: string) =>
    `import { x } from "./${name}.ts";\nexport const y = x;\n`;
  throws(
    () => link({ a: use("b"), b: use("a") }, "a"),
    /a to b to a: a circle/,
  );
  throws(() => link({ a: use("b") }, "a"), /there is no module b/);
  throws(() => link({ a: `import x from "y";\n` }, "a"), /it has .import x/);
  throws(
    () => link({ a: `export default 1;\n` }, "a"),
    /it has .export default/,
  );
});

Deno.test("pageScript() is a script without types, imports or an end tag", () => {
  const script = pageScript();
  // Compiles it; the page runs it in tests with a browser.
  strictEqual(typeof new Function(script), "function");
  strictEqual(/^\s*(import|export)\b/m.test(script), false);
  strictEqual(script.includes("</script"), false);
  match(script, /in_main\.start\(\);\n$/);
});

Deno.test("pageScript() has every module of the page's folder", () => {
  const names = [...Deno.readDirSync(new URL("./page", import.meta.url))]
    .map(({ name }) => name)
    .filter((name) => /(?<!_test)\.ts$/.test(name) && name !== "wire.ts");
  const script = pageScript();
  deepStrictEqual(
    names.filter((name) =>
      !script.includes(`const in_${name.replace(".ts", "")} = `)
    ),
    [],
  );
});
