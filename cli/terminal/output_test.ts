import { assertEquals, assertMatch } from "@std/assert";
import { fileURLToPath } from "node:url";
import { formatState, Progress, type Show } from "./output.ts";

const linux = Deno.build.os === "linux";
const skip = linux ? "" : " (ignored: needs /dev/full)";

/** Talks slowly enough for its reader to be gone, and says how far it came. */
const PRINTER = `import { Progress, logLine, printLine } from "${new URL(
  "output.ts",
  import.meta.url,
)}";
await new Promise((resolve) => setTimeout(resolve, 100));
logLine("talk");
printLine("told");
{
  using progress = new Progress("test", 2);
  progress.print("a line");
  progress.step();
}
printLine("shown");`;

/** Runs `script`, whose $1 is a program that says, and whose $2 is Deno. */
async function shell(script: string) {
  const { code, stdout, stderr } = await new Deno.Command("/bin/sh", {
    args: ["-c", script, "sh", PRINTER, Deno.execPath()],
  }).output();
  const text = (bytes: Uint8Array) => new TextDecoder().decode(bytes);
  return { code, stdout: text(stdout), stderr: text(stderr) };
}

Deno.test("formatState() takes an estimate, or that there is none, for each step's share", () => {
  const state = {
    title: "t",
    done: 1,
    total: 3,
    failed: 0,
    note: "",
    elapsed: 6,
  };
  assertEquals(formatState(state), "t 1/3, 12 s left");
  assertEquals(formatState({ ...state, left: 90 }), "t 1/3, 1 min 30 s left");
  assertEquals(formatState({ ...state, left: undefined }), "t 1/3");
  assertEquals(formatState({ ...state, done: 3, left: 1 }), "t 3/3");
});

const CSV = "results/nvidia-h200/grouped-nvfp4.csv";
// The code must be none that says what was found: in CI, 1 of a `diff` is a slower row.
for (const command of ["list", `diff ${CSV} ${CSV}`, `table ${CSV}`]) {
  Deno.test({
    name:
      `printLine() of ${command} tells in one line that the disk is full${skip}`,
    ignore: !linux,
    async fn() {
      const main = fileURLToPath(new URL("../main.ts", import.meta.url));
      const { code, stderr } = await shell(
        `"$2" run --quiet -A "${main}" ${command} > /dev/full`,
      );
      assertMatch(
        stderr,
        /(^|\n)error: Cannot write to standard output: .*space.*\n$/,
      );
      assertEquals(code, 2);
    },
  });
}

for (
  const [what, script] of [
    ["full", '"$2" eval --ext=ts "$1" 2> /dev/full'],
    ["closed", '{ "$2" eval --ext=ts "$1" 2>&1 >&3 | true; } 3>&1'],
  ] as const
) {
  Deno.test({
    name: `logLine() and Progress go on where standard error is ${what}${skip}`,
    ignore: !linux,
    async fn() {
      assertEquals((await shell(script)).stdout, "told\nshown\n");
    },
  });
}

/** Shows progress on what says that it is a terminal. */
const ON_TERMINAL = `import { Progress, screenOf } from "${new URL(
  "output.ts",
  import.meta.url,
)}";
Deno.stderr.isTerminal = () => true;
{
  using progress = new Progress("test", 2);
  await new Promise((resolve) => setTimeout(resolve, 200));
  progress.step();
}
console.error(screenOf(Deno.stderr).color);`;

const onWindows = Deno.build.os === "windows"
  ? " (ignored: terminals of Windows set no TERM)"
  : "";
for (
  const [what, env, expected] of [
    ["a dumb terminal", { TERM: "dumb" }, "test 1/2, 0 s left\nfalse\n"],
    ["one without a name", { TERM: "" }, "test 1/2, 0 s left\nfalse\n"],
    [
      "another one",
      { TERM: "xterm" },
      "\r\x1b[Jtest ████████████░░░░░░░░░░░░ 1/2, 0 s left\r\x1b[Jtrue\n",
    ],
  ] as const
) {
  Deno.test({
    name: `Progress and colours suit ${what}${onWindows}`,
    ignore: onWindows !== "",
    async fn() {
      const { NO_COLOR: _, ...rest } = Deno.env.toObject();
      const { stderr } = await new Deno.Command(Deno.execPath(), {
        args: ["eval", "--ext=ts", ON_TERMINAL],
        clearEnv: true,
        env: { ...rest, ...env },
        // At the end of a pipe may be a pager.
        stdout: "null",
      }).output();
      assertEquals(new TextDecoder().decode(stderr), expected);
    },
  });
}

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
): { show: Show; text: string[]; at: number; width: number } {
  const recorded = {
    text: [] as string[],
    at: 0,
    width: 40,
    show: {
      terminal,
      width: () => recorded.width,
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
    "\r\x1b[Jb ████████████░░░░░░░░░░░░ 1/2, 1 fail…",
    "\r\x1b[J",
    "FAIL x\n",
  ]);
});

Deno.test("Progress takes all rows of its bar away that a narrower window has made of it", () => {
  const to = recorder(true);
  using progress = new Progress("b", 2, { show: to.show });
  const drawn = (at: number, width: number) => {
    Object.assign(to, { at, width, text: [] });
    progress.update({});
    return to.text.join("");
  };
  drawn(1000, 40);
  // 31 columns are two rows of 20.
  const bar = "\r\x1b[Jb ░░░░░░░░░░░░░░░░…";
  assertEquals(drawn(2000, 20), `\x1b[1A${bar}`);
  assertEquals(drawn(3000, 20), bar);
});
