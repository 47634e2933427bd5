import { assert, assertMatch, assertStrictEquals } from "@std/assert";
import { createHash } from "node:crypto";
import { formatReport } from "./report.ts";
import { inputOf, row, sweep } from "./testdata/rows.ts";

const ROWS = sweep(["cublas", "mine"], [16, 32]);

Deno.test("formatReport() gives the same text for the same rows", () => {
  assertStrictEquals(formatReport(inputOf(ROWS)), formatReport(inputOf(ROWS)));
});

Deno.test("formatReport() names no address, and its policy lets nothing in or out", () => {
  const html = formatReport(inputOf(ROWS));
  const found = html.match(/\b(?:src|href|action)="[^"]*"|url\([^)]*\)/g) ?? [];
  for (const place of found) assertMatch(place, /^href="(#[\w-]+|data:,)"$/);
  assertStrictEquals(/<(?:img|iframe|object|embed|base)\b/i.test(html), false);
  assertMatch(html, /default-src 'none'/);
  assertStrictEquals(html.includes("unsafe"), false);
});

Deno.test("formatReport() allows the script and the style that it has, by their hashes", () => {
  const html = formatReport(inputOf(ROWS));
  for (const tag of ["style", "script"]) {
    const text = new RegExp(`<${tag}>([^]*?)</${tag}>`).exec(html)![1]!;
    const hash = createHash("sha256").update(text).digest("base64");
    assert(html.includes(`${tag}-src 'sha256-${hash}'`));
  }
});

Deno.test("formatReport() lets no data out of its element", () => {
  const bad = `</script><script>bad()</script><img src=x onerror="bad()">'`;
  const html = formatReport(
    inputOf([row({ suite: bad, note: bad, kernel: bad })], {
      sources: [bad],
    }),
  );
  assertStrictEquals(html.match(/<script/g)!.length, 2);
  assertStrictEquals(html.match(/<\/script>/g)!.length, 2);
  assertStrictEquals(html.includes("<img"), false);
});

Deno.test("formatReport() of 10,000 rows with quantiles is at most 5 MB", () => {
  // As bad as it gets: nothing repeats, and every figure has all its digits.
  let state = 1;
  const random = () =>
    (state = (Math.imul(state, 1103515245) + 12345) >>> 0) / 2 ** 32;
  const rows = Array.from({ length: 10_000 }, (_, i) => {
    const figure = () => `${random() * 100}`;
    return row({
      kernel: `kernel-${i % 7}`,
      k: `${1024 + 64 * Math.floor(i / 7)}`,
      config: `BM=${16 << (i % 3)} BN=32 BK=64 STAGES=${i % 5} SPLIT=${i % 64}`,
      median_us: figure(),
      q1_us: figure(),
      q3_us: figure(),
      min_us: figure(),
      mean_us: figure(),
      between_run_us: figure(),
      tflops: figure(),
      gbps: figure(),
      sol_us: figure(),
      max_abs_err: figure(),
      max_rel_err: figure(),
      rel_l2_err: figure(),
      search_ms: figure(),
      source_hash: figure().slice(2, 18),
      binary_hash: figure().slice(2, 18),
      time: new Date(1.79e12 + i * 1234).toISOString(),
    });
  });
  const samples = Array.from({ length: 64 }, () => 1e5 + random() * 1e4);
  const html = formatReport(inputOf(rows, {
    now: { label: "new", rows, samples: () => samples },
  }));
  const bytes = new TextEncoder().encode(html).length;
  assert(bytes <= 5e6, `${bytes} bytes`);
});
