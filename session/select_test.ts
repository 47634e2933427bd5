import { lacking } from "../cli/testdata/program.ts";
import {
  assertEquals,
  assertMatch,
  assertRejects,
  assertThrows,
} from "@std/assert";
import { fileURLToPath } from "node:url";
import type { Backend, DeviceInfo } from "../bench/device/device.ts";
import { UserError } from "../bench/model/errors.ts";
import { defineKernel } from "../bench/model/kernel.ts";
import { defineSuite } from "../bench/model/suite.ts";
import { matmul, type MatmulPoint } from "../kernels/matmul/mod.ts";
import { casesWithin, loadSuites } from "./cases.ts";
import { typed } from "./home.ts";
import { select } from "./select.ts";
import { sharing, takeDevice } from "./take_device.ts";
import { suiteNames, usualNames } from "../suites/mod.ts";

const onCpu = {
  suites: [],
  kernels: ["naive"],
  overrides: {},
  where: {},
  quick: false,
  backend: "cpu",
  device: 0,
};
const names = (list: readonly { readonly name: string }[]) =>
  list.map(({ name }) => name);

Deno.test("select() takes the usual suites, or all by that name", async () => {
  const bare = await select(onCpu);
  assertEquals(bare.selection.suites, usualNames);
  assertEquals(bare.preset, true);
  assertEquals(bare.cases[0]!.kernel, "naive");
  const every = await select({ ...onCpu, suites: ["all"] });
  assertEquals(every.selection.suites, suiteNames);
  // Whoever names suites gets all of their points.
  assertEquals(every.preset, false);
  const one = await select({ ...onCpu, suites: ["router-bf16"] });
  assertEquals(one.selection.suites, ["router-bf16"]);
});

Deno.test("select() leaves the kernel to be read out of the few points where others build", async () => {
  const { cases } = await select({ ...onCpu, kernels: [] });
  const kernels = new Set(cases.map(({ kernel }) => kernel));
  assertEquals(kernels.has("naive"), lacking() !== "");
});

Deno.test("select() takes a few points on a CPU where sizes are only the command's own", async () => {
  const sizes = { m: [1, 512] };
  const { cases, preset } = await select({ ...onCpu, kernels: [], sizes });
  assertEquals(preset, true);
  assertEquals(new Set(cases.map((c) => c.problem.key.m)), new Set(sizes.m));
  const depths = new Set(cases.map((c) => c.problem.key.k));
  assertEquals(depths, new Set([8192, 16384]));
  const chosen = await select({ ...onCpu, sizes, overrides: { k: [64] } });
  assertEquals(chosen.preset, false);
});

Deno.test("select() notes once that integers do not tell TF32 from fp32", async () => {
  const notesOf = async (type: string, fill: "integers" | "uniform") => {
    const overrides = { m: [16, 32], type: [type] };
    const { notes } = await select({ ...onCpu, overrides, fill });
    return notes.filter((note) => note.includes("TF32"));
  };
  assertEquals(await notesOf("f32", "integers"), [
    "Inputs are integers, which are exact in TF32 too: the precision of fp32 products is not checked",
  ]);
  assertEquals(await notesOf("f32", "uniform"), []);
  assertEquals(await notesOf("bf16", "integers"), []);
});

Deno.test("select() counts the kernels of a suite file that are for other devices", async () => {
  const file = new URL("../examples/c-kernel/suite.ts", import.meta.url);
  const notesOf = async (kernels: readonly string[]) => {
    const suites = [fileURLToPath(file)];
    const { notes } = await select({ ...onCpu, suites, kernels });
    return notes.filter((note) => note.includes("not run here"));
  };
  const [line, ...more] = await notesOf([]);
  assertMatch(
    line!,
    /^\d\d kernels for cuda, hip and metal are not run here$/,
  );
  assertEquals(more, []);
  assertEquals(await notesOf(["rows"]), []);
  assertEquals(await notesOf(["rows", "wgmma-k"]), [
    "1 kernel for cuda is not run here",
  ]);
});

Deno.test("select() says that a suite has no kernels", async () => {
  const file = await Deno.makeTempFile({ suffix: ".ts" });
  try {
    const text = `import { defineSuite, matmul } from "${new URL(
      "../mod.ts",
      import.meta.url,
    )}";
export default defineSuite({ name: "empty", title: "Empty", op: matmul, axes: { m: [16] }, kernels: [], baselines: [] });`;
    await Deno.writeTextFile(file, text);
    const options = { ...onCpu, kernels: [], suites: [file] };
    await assertRejects(
      () => select(options),
      UserError,
      "No kernels are in empty: list some in it, as in `kernels: [mine]`",
    );
  } finally {
    await Deno.remove(file);
  }
});

Deno.test("select() looks in every suite for a kernel that the usual ones lack", async () => {
  // It is found, and is for another device.
  await assertRejects(
    () => select({ ...onCpu, kernels: ["dot"] }),
    UserError,
    "No usable device: cpu: no selected kernel runs on it; they are for cuda",
  );
  // Other names may be near, too.
  const { message } = await assertRejects(
    () => select({ ...onCpu, kernels: ["dots"] }),
    UserError,
  );
  assertMatch(message, /did you mean .*dot\b/);
});

Deno.test("select() takes layouts where a suite has them as an axis", async () => {
  const { cases } = await select({
    ...onCpu,
    suites: ["router-bf16"],
    overrides: { layout: ["nn", "nt"], m: [1] },
  });
  assertEquals(cases.map(({ problem: { key } }) => key.layout), [
    "nn",
    "nt",
  ]);
});

Deno.test("casesWithin() refuses two points with the same key", () => {
  const kernel = defineKernel(matmul, {
    name: "one",
    backend: "cpu",
    idea: "none",
    prepare: () => ({ steps: [] }),
  });
  const suiteOf = (op: typeof matmul) =>
    defineSuite<MatmulPoint>({
      name: "alike",
      title: "points that are alike",
      op,
      axes: { m: [1, 2], k: [8, 16] },
      tie: { n: "m" },
      kernels: [kernel],
      baselines: [],
    });
  const filter = { kernels: [], points: "all", overrides: {} } as const;
  assertEquals(casesWithin([suiteOf(matmul)], filter).length, 4);
  const op = {
    ...matmul,
    key: (point: MatmulPoint) => ({ ...matmul.key(point), k: 1 }),
  };
  const { message, code } = assertThrows(
    () => casesWithin([suiteOf(op)], filter),
    UserError,
  );
  assertEquals(code, 2);
  assertMatch(
    message,
    /^Suite alike cannot be used: one would have two rows with the key m=1 n=1 k=1 type=bf16 epilogue=none layout=nn, of m=1 k=8 n=1 and of m=1 k=16 n=1; the op's key\(\) must tell all axes apart/,
  );
});

Deno.test("casesWithin() refuses what is too much before a point is made", () => {
  let made = 0;
  const op = {
    ...matmul,
    point(values: Parameters<typeof matmul.point>[0]) {
      made++;
      return matmul.point(values);
    },
  };
  const suiteOf = (count: number) =>
    defineSuite<MatmulPoint>({
      name: "large",
      title: "more points than a sweep has",
      op,
      axes: {
        m: Array.from({ length: count }, (_, i) => i + 1),
        n: [1],
        k: [8],
      },
      kernels: ["one", "two"].map((name) =>
        defineKernel(matmul, {
          name,
          backend: "cpu",
          idea: "none",
          prepare: () => ({ steps: [] }),
        })
      ),
      baselines: [],
    });
  const filter = { kernels: [], points: "all", overrides: {} } as const;
  for (
    const [count, overrides, why] of [
      [200_001, {}, /^Suite large cannot be used: its axes make 200001 points/],
      [
        500,
        { n: [1, 2, 3, 4].map((i) => i * 16), k: Array(101).fill(8) },
        /make 202000 points/,
      ],
      [100_001, {}, /^The sizes make more than 200000 cases/],
    ] as const
  ) {
    const refused = { ...filter, overrides };
    assertMatch(
      assertThrows(() => casesWithin([suiteOf(count)], refused), UserError)
        .message,
      why,
    );
    assertEquals(made, 0);
  }
  const one = { ...filter, kernels: ["one"], where: { m: ["7"] } };
  assertEquals(casesWithin([suiteOf(100_001)], one).length, 1);
});

Deno.test("casesWithin() refuses a point whose key no cell has room for", () => {
  const op = {
    ...matmul,
    key: (point: MatmulPoint) => ({
      ...matmul.key(point),
      params: `x=${"1".repeat(20_000)}`,
    }),
  };
  const suite = defineSuite<MatmulPoint>({
    name: "long",
    title: "a long key",
    op,
    axes: { m: [1], n: [1], k: [1] },
    kernels: [defineKernel(matmul, {
      name: "one",
      backend: "cpu",
      idea: "none",
      prepare: () => ({ steps: [] }),
    })],
    baselines: [],
  });
  const filter = { kernels: [], points: "all", overrides: {} } as const;
  assertThrows(
    () => casesWithin([suite], filter),
    UserError,
    "characters, and 20000 are the most",
  );
});

Deno.test("loadSuites() gives every built-in suite where none is named", async () => {
  assertEquals(names(await loadSuites([])), suiteNames);
  assertEquals(names(await loadSuites(["all"])), suiteNames);
  await assertRejects(
    () => loadSuites(["all", "router-bf16"]),
    UserError,
    "Two of the suites",
  );
});

function backend(name: string, devices: number): Backend {
  const none = () => {
    throw new Error("not for this test");
  };
  return {
    name,
    find: () => ({
      devices: Array.from({ length: devices }, (_, index): DeviceInfo => ({
        index,
        name: `${name} device`,
        arch: "arch",
        units: 1,
        cacheBytes: 0,
        flushBytes: 0,
        sharedBytes: 0,
        driver: "1.0",
      })),
      reason: devices > 0 ? "" : `there is no ${name} driver`,
    }),
    target: none,
    compiler: none,
    open: none,
    instruments: new URL("file:///none"),
  };
}

const ALL = Object.fromEntries(
  [backend("cuda", 0), backend("hip", 2), backend("cpu", 1)]
    .map((one) => [one.name, () => Promise.resolve(one)]),
);
const USEFUL = new Set(["cuda", "hip", "cpu"]);
const ANY = { backend: undefined, device: 0, useful: USEFUL };

Deno.test("loadSuites() refuses a misspelt baseline", async () => {
  const folder = await Deno.makeTempDir();
  let files = 0;
  const load = async (baselines: string) => {
    const file = `${folder}/${files++}.ts`;
    await Deno.writeTextFile(
      file,
      `import { defineSuite, kernels, matmul } from "${new URL(
        "../mod.ts",
        import.meta.url,
      )}";
export default defineSuite({
  name: "mine",
  title: "Mine",
  op: matmul,
  kernels,
  axes: { m: [1] },
  baselines: ${baselines},
});
`,
    );
    await loadSuites([file]);
  };
  try {
    await load('["cublas", "torch-eager", "naive", "torch.mm"]');
    await load('["auto", "a-peer-of-my-own", "naive"]');
    await assertRejects(
      () => load('["cublas", "openbals"]'),
      UserError,
      "Suite mine cannot be used, because of its baselines: No kernel is named openbals: did you mean openblas?",
    );
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
});

Deno.test("takeDevice() takes the first backend with a device, and says why", async () => {
  const { backend, info, notes } = await takeDevice(ANY, ALL);
  assertEquals([backend.name, info.index], ["hip", 0]);
  assertEquals(notes, [
    `Using hip: device 0 of 2, hip device (arch, driver 1.0); no device of cuda (\`${
      typed("doctor")
    }\` says why)`,
  ]);
});

Deno.test("takeDevice() takes the wanted device of the wanted backend", async () => {
  const wanted = { ...ANY, backend: "hip", device: 1 };
  assertEquals((await takeDevice(wanted, ALL)).info.index, 1);
});

Deno.test("takeDevice() passes over a backend with nothing to run", async () => {
  const { backend, notes } = await takeDevice(
    { ...ANY, useful: new Set(["cpu"]) },
    ALL,
  );
  assertEquals(backend.name, "cpu");
  assertEquals(notes, ["Using cpu: cpu device (arch, driver 1.0)"]);
});

Deno.test("takeDevice() ends with 3 where there is none, and all the reasons", async () => {
  const error = await assertRejects(
    () => takeDevice({ ...ANY, device: 7, useful: USEFUL }, ALL),
    UserError,
  );
  assertEquals(error.code, 3);
  assertEquals(
    error.message,
    `No usable device: cuda: there is no cuda driver; hip: no device 7, only 0 (hip device), 1 (hip device); cpu: no device 7, only 0 (cpu device); \`${
      typed("doctor")
    }\` says what would fix it; without one, \`check\` takes \`--device emulator:sm_90a\``,
  );
});

Deno.test("takeDevice() advises no emulator for Python, which runs on none", async () => {
  const wanted = { ...ANY, backend: "cuda", isPython: true };
  const { message } = await assertRejects(
    () => takeDevice(wanted, ALL),
    UserError,
  );
  assertMatch(
    message,
    /Python functions run on a CUDA device only, .* `[^`]*bench --dry-run` lists their/,
  );
});

Deno.test("sharing() gives devices of one kind, and names one that is absent or of another", () => {
  const device = (index: number, name: string) =>
    ({ index, name, arch: "a" }) as DeviceInfo;
  const devices = [device(0, "A"), device(1, "B"), device(2, "A")];
  const backend = {
    name: "cuda",
    find: () => ({ devices, reason: "" }),
  } as Partial<Backend> as Backend;
  const shared = (wanted: "all" | readonly number[]) =>
    sharing({ backend, info: devices[0]!, notes: [] }, wanted)
      .map(({ index }) => index);
  assertEquals(shared([0, 2]), [0, 2]);
  assertThrows(
    () => shared("all"),
    UserError,
    "Cannot share cases between device 0 (A) and device 1 (B): name devices of one kind, as in --device 0,2",
  );
  assertThrows(
    () => shared([0, 3]),
    UserError,
    "No device 3 of cuda: there are 0 (A), 1 (B), 2 (A)",
  );
});

Deno.test("select() takes all devices that share the cases", async () => {
  const { infos, selection, notes } = await select({
    ...onCpu,
    devices: "all",
  });
  assertEquals(infos!.length, 1);
  assertEquals([selection.device, selection.devices], [0, "all"]);
  assertEquals(notes.includes("1 device has all cases"), true);
});
