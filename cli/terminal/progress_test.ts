import { assertEquals } from "@std/assert";
import { formatState, Progress, type Show } from "./progress.ts";

const STATE = {
  title: "bench",
  done: 6,
  total: 12,
  failed: 0,
  note: "naive m=16 n=16 k=8192",
  elapsed: 60,
};

Deno.test("formatState() draws a bar with what is left and what is at work", () => {
  assertEquals(
    formatState(STATE, { bar: true }),
    "bench ████████████░░░░░░░░░░░░ 6/12, 1 min 0 s left, naive m=16 n=16 k=8192",
  );
});

Deno.test("formatState() stays within the width", () => {
  const line = formatState(STATE, { bar: true, width: 50 });
  assertEquals(line, "bench ████████████░░░░░░░░░░░░ 6/12, 1 min 0 s l…");
  assertEquals(line.length < 50, true);
});

Deno.test("formatState() says nothing of the time before a step is done", () => {
  const state = { ...STATE, done: 0, note: "" };
  assertEquals(formatState(state), "bench 0/12");
});

Deno.test("formatState() counts the time of its own steps only", () => {
  const state = { ...STATE, before: 4, note: "" };
  assertEquals(formatState(state), "bench 6/12, 3 min 0 s left");
});

function recorder(
  terminal: boolean,
): { show: Show; text: string[]; at: number } {
  const recorded = {
    text: [] as string[],
    at: 0,
    show: {
      terminal,
      screen: { color: false, width: 40 },
      write: (text: string) => void recorded.text.push(text),
      now: () => recorded.at,
      repeat: () => () => {},
    },
  };
  return recorded;
}

Deno.test("Progress writes a line every five seconds to a pipe, and a last one", () => {
  const to = recorder(false);
  {
    using progress = new Progress("bench", 4, { show: to.show });
    for (const at of [1000, 4999, 5000, 6000]) {
      to.at = at;
      progress.step();
    }
  }
  assertEquals(to.text, ["bench 3/4, 2 s left\n", "bench 4/4\n"]);
});

Deno.test("Progress writes its bar over itself on a terminal, and takes it away", () => {
  const to = recorder(true);
  {
    using progress = new Progress("b", 2, { show: to.show });
    to.at = 1000;
    progress.step({ failed: 1 });
    progress.print("FAIL x");
  }
  assertEquals(to.text, [
    "\r\x1b[Kb ████████████░░░░░░░░░░░░ 1/2, 1 fail…",
    "\r\x1b[K",
    "FAIL x\n",
  ]);
});
