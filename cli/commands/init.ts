/**
 * `mnkbench init`: writes a kernel, a suite and a CI workflow into a repository.
 *
 * @module
 */

import { object } from "@optique/core/constructs";
import { optional } from "@optique/core/modifiers";
import type { InferValue } from "@optique/core/parser";
import { argument } from "@optique/core/primitives";
import { dirname, join } from "node:path";
import { onDisk, readable, unlessMissing } from "../../bench/files/disk.ts";
import { contained } from "../../bench/files/replace.ts";
import { EXIT, UserError } from "../../bench/model/errors.ts";
import { sourceVersion } from "../../session/commit.ts";
import { HOME, quoted, typed } from "../../session/home.ts";
import { backendNamed } from "../../session/take_device.ts";
import { BRIEFS, define } from "../command.ts";
import { about, maybe, shown } from "../options/flags.ts";
import { path } from "../options/readers.ts";
import { logLine, printLine } from "../terminal/output.ts";

/** `mnkbench init`. */
export const command = define({
  name: "init",
  brief: BRIEFS.init,
  examples: ["init", "init ../my-kernels --backend cuda"],
  codes: { 0: "the files are written" },
  flags,
  run: init,
});

function flags() {
  return object("Files", {
    folder: optional(
      argument(
        path("DIR"),
        about("The repository (default: the folder where you are)."),
      ),
    ),
    backend: maybe(
      "--backend",
      shown(["cpu", "cuda"]),
      "Language of the kernel: C or CUDA (default: CUDA where a device is).",
    ),
  });
}

/** The examples that the kernel and its suite are copies of, by backend. */
const EXAMPLES = {
  cpu: {
    folder: "examples/c-kernel",
    source: "rows.c",
    kernel: "rows",
    runner:
      "ubuntu-latest # diff exits 3 on a CPU other than the recorded one: name a machine of yours",
  },
  cuda: {
    folder: "examples/cuda-kernel",
    source: "tiled.cu",
    kernel: "tiled",
    runner: "[self-hosted, linux, gpu]",
  },
} as const;

/** The folder of what is written but for the workflow, which GitHub looks for in its own. */
const FOLDER = "bench";
const WORKFLOW = ".github/workflows/kernels.yml";
const IGNORE = ".gitignore";
/** What runs leave where they are started, as git's patterns. */
const LEFT = [".runs/", `/${FOLDER}/new/`];

async function init(
  { folder = ".", backend }: InferValue<ReturnType<typeof flags>>,
): Promise<number> {
  const gpu = await hasCuda();
  const chosen = backend ?? (gpu ? "cuda" : "cpu");
  const emulated = chosen === "cuda" && !gpu;
  const { kernel } = EXAMPLES[chosen];
  const files = await filesOf(chosen);
  for (const { name } of files) refuseTaken(folder, name);
  const ignored = ignoredIn(folder);
  writeAll(folder, [
    ...files,
    ...(ignored === undefined
      ? [{ name: IGNORE, text: `${LEFT.join("\n")}\n`, mode: 0o666 }]
      : []),
  ]);
  const missing = LEFT.filter((line) => !(ignored ?? LEFT).includes(line));
  if (missing.length > 0) {
    logLine(`Add to ${join(folder, IGNORE)}: ${missing.join(" and ")}`);
  }
  const inside = folder === "." ? "" : `cd ${quoted(folder)} && `;
  printLine(
    emulated
      ? "Next, run the kernel on an emulator; on a GPU, compare it with libraries, and record its times:"
      : "Next, run the kernel, compare it with libraries, and record its times:",
  );
  const small = emulated ? " --device emulator:sm_90a --m 19 --k 64" : "";
  const check = `check --suite ${FOLDER}/suite.ts --kernel ${kernel}${small}`;
  printLine(`  ${inside}${typed(check, folder)}`);
  printLine(`  ${inside}${typed(`bench --suite ${FOLDER}/suite.ts`, folder)}`);
  printLine(`  ${inside}MNKBENCH=${quoted(HOME)} ${FOLDER}/bench.sh --record`);
  logLine(`Set OWNER in ${WORKFLOW}: CI checks mnkbench out from there`);
  return EXIT.ok;
}

/** The lines of the `.gitignore` in `folder`; undefined where there is none. */
function ignoredIn(folder: string): readonly string[] | undefined {
  const path = join(folder, IGNORE);
  return readable(path, () => unlessMissing(() => Deno.readTextFileSync(path)))
    ?.split(/\r?\n/);
}

async function hasCuda(): Promise<boolean> {
  return (await backendNamed("cuda")).find().devices.length > 0;
}

/** A file by its path in the repository. */
interface NewFile {
  readonly name: string;
  readonly text: string;
  readonly mode: number;
}

async function filesOf(
  backend: keyof typeof EXAMPLES,
): Promise<readonly NewFile[]> {
  const { folder, source, kernel, runner } = EXAMPLES[backend];
  const { commit } = await sourceVersion();
  const file = (name: string, from: string, mode = 0o666): NewFile => {
    const path = join(HOME, from);
    const text = readable(path, () => Deno.readTextFileSync(path));
    return { name, mode, text };
  };
  const script = file(`${FOLDER}/bench.sh`, "examples/ci/bench.sh", 0o777);
  const suite = file(`${FOLDER}/suite.ts`, `${folder}/suite.ts`);
  const workflow = file(WORKFLOW, "examples/ci/kernels.yml");
  return [
    file(`${FOLDER}/${source}`, `${folder}/${source}`),
    { ...suite, text: replaced(suite.text, [[/"example-\w+"/, '"kernels"']]) },
    {
      ...script,
      text: replaced(script.text, [
        ["SUITE:-../c-kernel/suite.ts", "SUITE:-./suite.ts"],
        ["KERNEL:-rows", `KERNEL:-${kernel}`],
      ]),
    },
    {
      ...workflow,
      text: replaced(workflow.text, [
        [/^#.*\n/, ""],
        ["ref: COMMIT", `ref: ${commit}`],
        ["./bench.sh", `${FOLDER}/bench.sh`],
        ["[self-hosted, linux, gpu]", runner],
      ]),
    },
  ];
}

function replaced(
  text: string,
  changes: readonly (readonly [string | RegExp, string])[],
): string {
  return changes.reduce((all, [from, to]) => all.replace(from, to), text);
}

/** Writes all of `files`, or none. @throws {UserError} Where the disk refuses one. */
function writeAll(folder: string, files: readonly NewFile[]): void {
  using undo = new DisposableStack();
  for (const { name, text, mode } of files) {
    const path = join(folder, name);
    onDisk(path, () => {
      Deno.mkdirSync(dirname(path), { recursive: true });
      Deno.writeTextFileSync(path, text, { createNew: true, mode });
    });
    undo.defer(() => Deno.removeSync(path));
  }
  undo.move();
  logLine(`Wrote ${files.map(({ name }) => join(folder, name)).join(", ")}`);
}

/**
 * Refuses what is there already, something in the way, and a link out of `folder`.
 *
 * @throws {UserError} Where no file can be made at `name` in `folder`.
 */
function refuseTaken(folder: string, name: string): void {
  const path = join(folder, name);
  const refuse = (why: string): never => {
    throw new UserError(
      `Cannot write ${path}: ${why}; move it away or name another folder`,
    );
  };
  const parent = noFolderAbove(path);
  if (parent !== undefined) refuse(`${parent} is there and is not a folder`);
  contained(folder, name);
  if (readable(path, () => unlessMissing(() => Deno.lstatSync(path)))) {
    refuse("it is there already, and nothing is overwritten");
  }
}

/** Returns the first of the folders above `path` that is something else, or a link to it. */
function noFolderAbove(path: string): string | undefined {
  const parent = dirname(path);
  if (parent === path) return undefined;
  return noFolderAbove(parent) ?? (isInTheWay(parent) ? parent : undefined);
}

function isInTheWay(folder: string): boolean {
  return readable(folder, () => {
    if (!unlessMissing(() => Deno.lstatSync(folder))) return false;
    try {
      return !Deno.statSync(folder).isDirectory;
    } catch (error) {
      const { NotFound, FilesystemLoop } = Deno.errors;
      // A link that leads nowhere.
      if (error instanceof NotFound || error instanceof FilesystemLoop) {
        return true;
      }
      throw error;
    }
  });
}
