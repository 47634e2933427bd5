import { assertMatch, assertStrictEquals, assertThrows } from "@std/assert";
import { shareGlyphs } from "./svg.ts";

const HEAD = `<svg width="30" height="20">`;
const outline = (path: string) =>
  `<path fill="#000001" transform="translate(0 100)" d="${path}"/>`;

Deno.test("shareGlyphs() draws each letter once and refers to it", () => {
  const svg = `${HEAD}<text fill="#123" font-size="12" font-family="x" ` +
    `x="10, 18.126, 24, " y="5, ">a a</text></svg>`;
  assertStrictEquals(
    shareGlyphs(svg, () => outline("M0 -1.23456L2 3Z")),
    `<svg width="30" height="20" viewBox="0 0 30 20" role="img"><defs>` +
      `<path id="g0" d="M0 -1.2L2 3Z"/></defs>` +
      `<g fill="#123" transform=" scale(0.1200)">` +
      `<use xlink:href="#g0" x="83.33" y="41.67"/>` +
      `<use xlink:href="#g0" x="200" y="41.67"/></g></svg>\n`,
  );
});

Deno.test("shareGlyphs() keeps how text is turned, and bold letters apart", () => {
  const text = (more: string) =>
    `<text${more} font-size="100" x="1, " y="2, ">&lt;</text>`;
  const svg = HEAD + text(` transform="matrix(0 -1 1 0 5 6)"`) +
    text(` font-weight="600"`) + "</svg>";
  const out = shareGlyphs(svg, () => outline("M0 0Z") + outline("M1 1Z"));
  assertStrictEquals(
    out.slice(out.indexOf("</defs>")),
    `</defs><g transform="matrix(0 -1 1 0 5 6) scale(1.0000)">` +
      `<use xlink:href="#g0" x="1" y="2"/></g>` +
      `<g transform=" scale(1.0000)"><use xlink:href="#g1" x="1" y="2"/></g>` +
      `</svg>\n`,
  );
});

Deno.test("shareGlyphs() rounds what is drawn to two decimals", () => {
  const out = shareGlyphs(
    `${HEAD}<path d="M1.23456 -0.004L1e3 2.5Z" fill="#123456"/></svg>`,
    () => "",
  );
  assertStrictEquals(out.includes(`d="M1.23 0L1e3 2.5Z"`), true, out);
});

Deno.test("shareGlyphs() refuses a letter that the typeface has not", () => {
  const svg = `${HEAD}<text font-size="9" x="1, " y="2, ">☃</text></svg>`;
  const { message } = assertThrows(() => shareGlyphs(svg, () => ""), Error);
  assertMatch(message, /1 glyphs gave 0 outlines.*☃/);
});

Deno.test("shareGlyphs() counts clips from 0, whatever was drawn before", () => {
  const clip = (id: string) =>
    `<clipPath id="${id}"/><g clip-path="url(#${id})"/>`;
  const drawn = (...ids: string[]) =>
    shareGlyphs(`${HEAD}${ids.map(clip).join("")}</svg>`, () => "");
  assertStrictEquals(drawn("cl_9", "cl_a"), drawn("cl_1", "cl_2"));
  assertStrictEquals(drawn("cl_9").includes(`"url(#c0)"`), true);
});
