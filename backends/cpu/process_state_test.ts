import { assert, assertEquals, assertMatch } from "@std/assert";
import { openProcessState } from "./process_state.ts";

const linux = { ignore: Deno.build.os !== "linux" };
const MODULE = new URL("./process_state.ts", import.meta.url).href;

/** Runs `code` in a process of its own, whose state nobody else changes. */
async function inProcess(code: string): Promise<unknown> {
  const { stdout, stderr } = await new Deno.Command(Deno.execPath(), {
    args: [
      "eval",
      "--quiet",
      `import { openProcessState } from ${JSON.stringify(MODULE)};
const state = openProcessState();
const libc = Deno.dlopen("libc.so.6", {
  alarm: { parameters: ["u32"], result: "u32" },
  getrlimit: { parameters: ["i32", "buffer"], result: "i32" },
  setrlimit: { parameters: ["i32", "buffer"], result: "i32" },
  malloc: { parameters: ["usize"], result: "pointer" },
  mlock: { parameters: ["pointer", "usize"], result: "i32" },
  umask: { parameters: ["u32"], result: "u32" },
  nice: { parameters: ["i32"], result: "i32" },
  prctl: { parameters: ["i32", "usize", "usize", "usize", "usize"], result: "i32" },
  close: { parameters: ["i32"], result: "i32" },
  open: { parameters: ["buffer", "i32"], result: "i32" },
  sigprocmask: { parameters: ["i32", "buffer", "pointer"], result: "i32" },
  signal: { parameters: ["i32", "usize"], result: "usize" },
}).symbols;
const libm = Deno.dlopen("libm.so.6", {
  fegetround: { parameters: [], result: "i32" },
  fesetround: { parameters: ["i32"], result: "i32" },
  fabsl: { parameters: [], result: "void" },
}).symbols;
const UPWARD = Deno.build.arch === "x86_64" ? 0x800 : 0x400000;
${code}`,
    ],
  }).output();
  const text = new TextDecoder().decode(stdout);
  if (text === "") throw new Error(new TextDecoder().decode(stderr));
  return JSON.parse(text);
}

Deno.test(
  "watch() finds nothing after calls that change nothing",
  linux,
  async () => {
    const left = await inProcess(`
const watch = state.watch();
watch.warm();
libm.fesetround(libm.fegetround());
console.log(JSON.stringify(watch.left()));`);
    assertEquals(left, []);
  },
);

Deno.test(
  "watch() names alarms, limits and handlers that calls left",
  linux,
  async () => {
    const left = await inProcess(`
const watch = state.watch();
libc.alarm(3600);
libc.signal(8, 1n);
const limit = new BigUint64Array(2);
libc.getrlimit(0, limit);
limit[0] = 36000n;
libc.setrlimit(0, limit);
console.log(JSON.stringify(watch.left()));`);
    assertEquals(left, [
      "left an alarm behind",
      "left another limit of CPU time behind",
      "left another handler of signal 8 behind",
    ]);
  },
);

Deno.test(
  "watch() names handlers that a later call takes back",
  linux,
  async () => {
    const left = await inProcess(`
const watch = state.watch();
const before = libc.signal(11, 1n);
state.settleTimed(1);
libc.signal(11, before);
state.settleTimed(1);
const left = [watch.left(), state.watch().left()];
console.log(JSON.stringify(left));`);
    assertEquals(left, [["left another handler of signal 11 behind"], []]);
  },
);

Deno.test(
  "watch() tells of calls that work on when the clock has stopped",
  linux,
  async () => {
    const left = await inProcess(`
const watch = state.watch();
for (let i = 0; i < 20; i++) state.settleTimed(1000);
const before = watch.left();
const { fstat } = state.call;
state.call.fstat = (...args) => {
  for (const start = performance.now(); performance.now() - start < 5;);
  return fstat(...args);
};
for (let i = 0; i < 20; i++) state.settleTimed(1000);
const slower = watch.left();
for (let i = 0; i < 50; i++) state.settleTimed(1);
console.log(JSON.stringify([before, slower, watch.left()]));`);
    const late = ["worked on after its timed calls had returned"];
    assertEquals(left, [[], [], late]);
  },
);

Deno.test(
  "watch() names files, folders, masks and priorities that calls changed",
  linux,
  async () => {
    const left = await inProcess(`
const watch = state.watch();
libc.close(0);
Deno.chdir("/");
libc.umask(0o123);
libc.mlock(libc.malloc(8192n), 1n);
libc.sigprocmask(0, new Uint8Array(128).fill(2, 0, 1), null);
libc.nice(1);
console.log(JSON.stringify(watch.left()));`);
    assertEquals(left, [
      "left another file as standard input behind",
      "left another working directory behind",
      "left another file mode mask behind",
      "left another signal mask behind",
      "left another amount of locked memory behind",
      "left another priority behind",
    ]);
  },
);

Deno.test(
  "watch() names descriptors that calls closed, once their output is back",
  linux,
  async () => {
    const left = await inProcess(`
const watch = state.watch();
libc.close(1);
state.settle();
console.log(JSON.stringify(watch.left()));`);
    assertEquals(left, ["left another file as standard output behind"]);
    const [before, after] = await inProcess(`
const { promise, resolve } = Promise.withResolvers();
setTimeout(resolve, 0);
await promise;
const watch = state.watch();
const before = watch.left();
// Not sockets: the thread that waits for signals ends the program at once without its own.
for (const { name } of [...Deno.readDirSync("/proc/self/fd")]) {
  const target = \`/proc/self/fd/\${name}\`;
  try {
    if (Deno.readLinkSync(target).startsWith("anon_inode:")) libc.close(Number(name));
  } catch {
    continue;  // The one that lists the folder.
  }
}
Deno.stdout.writeSync(new TextEncoder().encode(JSON.stringify([before, watch.left()])));
Deno.kill(Deno.pid, "SIGKILL");`) as [string[], string[]];
    assertEquals(before, []);
    assertMatch(after.join(), /^closed descriptors of the program \(\d+\)$/);
  },
);

Deno.test(
  "watch() counts files that calls leave open, not those that one keeps",
  linux,
  async () => {
    const [few, many, all] = await inProcess(`
const open = () => libc.open(new TextEncoder().encode("/dev/null\\0"), 0);
const watch = state.watch();
for (let i = 0; i < 9; i++) open();
watch.warm();
for (let i = 0; i < 8; i++) open();
const few = watch.left();
open();
const many = watch.left();
while (open() >= 0);
console.log(JSON.stringify([few, many, watch.left()]));`) as string[][];
    assertEquals(few, []);
    assertEquals(many, ["left 9 more files open"]);
    assertEquals(all!.length, 1);
    assertMatch(all![0]!, /^left \d{3,} more files open$/);
  },
);

Deno.test(
  "watch() wants another process after another environment, but finds no mistake",
  linux,
  async () => {
    const said = await inProcess(`
const watch = state.watch();
Deno.env.set("__KMP_REGISTERED", "1");
const before = watch.spoilt();
Deno.env.set("OMP_NUM_THREADS", "1");
console.log(JSON.stringify([before, watch.spoilt(), watch.left()]));`);
    assertEquals(said, [false, true, []]);
  },
);

Deno.test(
  "watch() finds a thread that works on, and not a pool that waits",
  linux,
  async () => {
    const said = await inProcess(`
const start = (code) => {
  const { promise, resolve } = Promise.withResolvers();
  new Worker("data:application/javascript," + code, { type: "module" })
    .onmessage = resolve;
  return promise;
};
const watch = state.watch();
await start("postMessage(0); onmessage = () => {}");
const waiting = watch.working();
await start("postMessage(0); while (true);");
console.log(JSON.stringify([waiting, watch.working()]));
Deno.exit(0);`);
    assertEquals(said, [false, true]);
  },
);

Deno.test(
  "watch() names no more than a limit where nothing can be opened any more",
  linux,
  async () => {
    const left = await inProcess(`
const watch = state.watch();
watch.warm();
const limit = new BigUint64Array(2);
libc.getrlimit(7, limit);
limit[0] = 3n;
libc.setrlimit(7, limit);
console.log(JSON.stringify(watch.left()));`);
    assertEquals(left, ["left another limit of open files behind"]);
  },
);

Deno.test("watch() finds a parent that was killed", linux, async () => {
  const process = new Deno.Command("sh", {
    // What the shell says of its child's end is nobody's matter.
    args: [
      "-c",
      '"$0" "$@"; true',
      Deno.execPath(),
      "eval",
      "--quiet",
      `
import { openProcessState } from ${JSON.stringify(MODULE)};
const watch = openProcessState().watch();
const before = watch.left();
Deno.kill(Deno.ppid, "SIGKILL");
console.log(JSON.stringify([before, watch.left()]));`,
    ],
    stdout: "piped",
  }).spawn();
  const { stdout } = await process.output();
  assertEquals(JSON.parse(new TextDecoder().decode(stdout)), [
    [],
    ["left a dead parent behind"],
  ]);
});

Deno.test(
  "watch() names what calls changed of parents, orphans and privileges",
  linux,
  async () => {
    const left = await inProcess(`
const watch = state.watch();
libc.prctl(1, 10n, 0n, 0n, 0n);
libc.prctl(36, 0n, 0n, 0n, 0n);
libc.prctl(38, 1n, 0n, 0n, 0n);
console.log(JSON.stringify(watch.left()));`);
    assertEquals(left, [
      "left another right to new privileges behind",
      "left another signal after the end of its parent behind",
      "left another parent of its orphans behind",
    ]);
  },
);

Deno.test(
  "watch() names another user and group, and other capabilities",
  { ignore: Deno.build.os !== "linux" || Deno.uid() !== 0 },
  async () => {
    const left = await inProcess(`
const { setuid, setgid } = Deno.dlopen("libc.so.6", {
  setuid: { parameters: ["u32"], result: "i32" },
  setgid: { parameters: ["u32"], result: "i32" },
}).symbols;
const watch = state.watch();
setgid(65534);
setuid(65534);
console.log(JSON.stringify(watch.left()));`);
    assertEquals(left, [
      "left another user behind",
      "left another group behind",
      "left another set of capabilities behind",
    ]);
  },
);

Deno.test(
  "watch() names POSIX timers and an ignored SIGCHLD",
  linux,
  async () => {
    const left = await inProcess(`
const timer = { timer_create: { parameters: ["i32", "pointer", "buffer"], result: "i32" } };
const open = (name) => Deno.dlopen(name, timer).symbols;
let lib;
// Of a library of its own before glibc 2.34.
try { lib = open("libc.so.6"); } catch { lib = open("librt.so.1"); }
const watch = state.watch();
lib.timer_create(1, null, new Uint8Array(8));
libc.signal(17, 1n);
console.log(JSON.stringify(watch.left()));`);
    assertEquals(left, [
      "left another number of POSIX timers behind",
      "left an ignored SIGCHLD behind",
    ]);
  },
);

Deno.test("watch() finds a daemon", linux, async () => {
  const left = await inProcess(`
const watch = state.watch();
const { stdout } = new Deno.Command("sh", {
  args: ["-c", "setsid sleep 60 > /dev/null 2>&1 & echo $!"],
}).outputSync();
console.log(JSON.stringify(watch.left().filter((line) => /child/.test(line))));
Deno.kill(Number(new TextDecoder().decode(stdout)));`);
  assertEquals(left, ["left a child process behind"]);
});

Deno.test(
  "watch() tells of a register of the x87 that a call left taken",
  { ignore: linux.ignore || Deno.build.arch !== "x86_64" },
  async () => {
    const [left] = await inProcess(`
const watch = state.watch();
libm.fabsl(); // its result is left where nobody takes it
state.settle();
console.log(JSON.stringify(watch.left()));`) as string[];
    assertMatch(
      left!,
      /^changed the floating-point environment \(control bits 0x37f 0xffff 0x1f80 to 0x37f 0x[0-9a-f]fff 0x1f80\)$/,
    );
  },
);

Deno.test(
  "settle() restores the rounding, and watch() tells of it",
  linux,
  async () => {
    const [left, rounding, later] = await inProcess(`
const watch = state.watch();
libm.fesetround(UPWARD);
state.settle();
const rounding = libm.fegetround();
const left = watch.left();
console.log(JSON.stringify([left, rounding, state.watch().left()]));`) as [
      string[],
      number,
      string[],
    ];
    assertEquals(left.length, 1);
    assertMatch(
      left[0]!,
      /^changed the floating-point environment \(control bits/,
    );
    assertEquals([rounding, later], [0, []]);
  },
);

Deno.test(
  "watch() takes threads of the first calls for a pool",
  linux,
  async () => {
    const [pooled, more] = await inProcess(`
const start = () => {
  const { promise, resolve } = Promise.withResolvers();
  const code = "data:application/javascript,postMessage(0); onmessage = () => {}";
  new Worker(code, { type: "module" }).onmessage = resolve;
  return promise;
};
const watch = state.watch();
await start();
watch.warm();
const pooled = watch.left();
await start();
console.log(JSON.stringify([pooled, watch.left()]));
Deno.exit(0);`) as [string[], string[]];
    assertEquals(pooled, []);
    assertMatch(more.join(), /^left \d+ more threads? running$/);
  },
);

Deno.test("watch() finds a child process that was left", linux, async () => {
  const left = await inProcess(`
const watch = state.watch();
const child = new Deno.Command("sleep", { args: ["60"] }).spawn();
console.log(JSON.stringify(watch.left().filter((line) => /child/.test(line))));
child.kill();
await child.status;`);
  assertEquals(left, ["left a child process behind"]);
});

Deno.test("used() counts what the allocator gave", linux, async () => {
  const growth = await inProcess(`
const before = state.used();
for (let i = 0; i < 64; i++) libc.malloc(1n << 18n);
console.log(JSON.stringify(state.used().map((bytes, i) => bytes - before[i])));`) as number[];
  // The second count is there from glibc 2.33 on; nothing was written, so the first may not grow.
  if (growth.length > 1) assert(growth[1]! > 15 << 20, `${growth}`);
});

Deno.test("openProcessState() looks at nothing on a system that it does not know", () => {
  assertEquals(openProcessState("windows"), undefined);
});
